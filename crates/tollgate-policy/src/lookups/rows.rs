//! Reading a table's rows from a file.

use std::collections::BTreeMap;
use std::path::Path;

/// Cells by column; empty ones are absent.
pub(crate) type Cells = BTreeMap<String, String>;

/// Rows, each with where it stands ("line 3", "row 2"), for messages.
pub(crate) type Rows = Vec<(String, Cells)>;

/// The largest table file that is read: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the rows of the CSV or YAML file at `path`, told apart by the name's end. Without rows, a CSV file must at least
/// name the columns that are `needed`: a file that is being written is not a table of nobody.
///
/// # Errors
/// Text that names the file and says what is wrong.
pub(crate) fn read(path: &Path, needed: &[&str]) -> Result<Rows, String> {
    let bytes = read_bounded(path, MAX_BYTES)?;
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or("").to_ascii_lowercase();
    let rows = match end.as_str() {
        "csv" => csv(&bytes, needed),
        "yaml" | "yml" => yaml(&bytes),
        _ => Err("its name ends in neither .csv nor .yaml".into()),
    };
    rows.map_err(|text| format!("{}: {text}", path.display()))
}

/// The bytes of the file at `path`.
///
/// # Errors
/// Text that names the file and says what is wrong.
pub(crate) fn read_bounded(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(fail)?;
    file.take(max + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > max {
        return Err(format!("{}: larger than {max} bytes", path.display()));
    }
    Ok(bytes)
}

fn csv(bytes: &[u8], needed: &[&str]) -> Result<Rows, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(bytes);
    let columns = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let place = record.position().map_or(0, csv::Position::line);
        let cells = columns.iter().zip(record.iter());
        let cells = cells.map(|(column, cell)| (column.to_owned(), cell.to_owned()));
        rows.push((format!("line {place}"), cells.collect()));
    }
    let missing = needed.iter().find(|needed| !columns.iter().any(|column| column == **needed));
    match missing {
        Some(column) if rows.is_empty() => {
            Err(format!("it has no column {column}; its first line must name its columns"))
        }
        _ => Ok(rows),
    }
}

fn yaml(bytes: &[u8]) -> Result<Rows, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    if text.trim().is_empty() {
        return Err("it is empty; write `[]` for a table without rows".into());
    }
    let rows: Vec<Cells> = serde_saphyr::from_str(text)
        .map_err(|error| format!("it is no list of rows of text: {error}"))?;
    let number = |(place, cells): (usize, Cells)| (format!("row {}", place + 1), cells);
    Ok(rows.into_iter().enumerate().map(number).collect())
}
