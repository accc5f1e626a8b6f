//! Functions stay small enough to be held in mind.

use syn::visit::Visit;

use super::{all, assert_clean, percentile};

/// Collects the length of every function body, by name and line.
#[derive(Default)]
struct Lengths {
    found: Vec<(String, usize, usize)>,
}

impl Lengths {
    fn note(&mut self, name: &syn::Ident, block: &syn::Block) {
        let braces = block.brace_token.span;
        let (first, last) = (braces.open().start().line, braces.close().end().line);
        self.found.push((name.to_string(), first, last - first + 1));
    }
}

impl<'ast> Visit<'ast> for Lengths {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.note(&item.sig.ident, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(&item.sig.ident, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.note(&item.sig.ident, block);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn functions_are_small() {
    let mut sizes = Vec::new();
    let mut long = Vec::new();
    for source in all() {
        let file = syn::parse_file(&source.text)
            .unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let mut lengths = Lengths::default();
        lengths.visit_file(&file);
        for (name, line, length) in lengths.found {
            sizes.push(length);
            if length > 70 {
                long.push(format!(
                    "{}:{line}: {name} has {length} lines; give its parts names",
                    source.path
                ));
            }
        }
    }
    assert_clean("no function has more than 70 lines", &long);
    sizes.sort_unstable();
    assert!(
        percentile(&sizes, 90) <= 25,
        "nine in ten functions have {} lines, at most 25 are right",
        percentile(&sizes, 90)
    );
}
