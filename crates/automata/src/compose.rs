//! Concatenation, Kleene star, and operations by letter class.
//!
//! [`Languages::project`] keeps the letters of one class. [`Languages::keep_last_of_class`] removes
//! all letters of a class except the last. [`Languages::product_form`] concatenates the projections
//! to all classes: it discards the order between classes and the dependence of one class on
//! another.
//! Direction: each operation is exact with respect to its definition. The caller decides whether
//! the product form may replace a language.

use crate::languages::Operation;
use crate::{Language, Languages, operations};

impl Languages {
    /// Returns the concatenation `A . B`.
    pub fn concat(&mut self, a: Language, b: Language) -> Language {
        match (a, b) {
            (Language::EMPTY, _) | (_, Language::EMPTY) => Language::EMPTY,
            (Language::EPSILON, only) | (only, Language::EPSILON) => only,
            (a, b) => self.memoised(Operation::Concat(a, b), |store| {
                operations::concat(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// Returns the Kleene star `L*`.
    pub fn star(&mut self, l: Language) -> Language {
        if l == Language::EMPTY || l == Language::EPSILON {
            return Language::EPSILON;
        }
        self.memoised(Operation::Star(l), |store| operations::star(store.dfa(l)))
    }

    /// Returns the projection to a class: removes from each word all letters of other classes.
    pub fn project(&mut self, l: Language, class: u32) -> Language {
        self.memoised(Operation::Project(l, class), |store| {
            operations::project(store.dfa(l), class)
        })
    }

    /// Removes from each word all letters of a class except the last.
    pub fn keep_last_of_class(&mut self, l: Language, class: u32) -> Language {
        self.memoised(Operation::LastOnly(l, class), |store| {
            operations::last_only(store.dfa(l), class)
        })
    }

    /// Returns the product form: the concatenation of the projections to all classes, in the order
    /// of classes. It combines the per-class contents independently. A language in product form is
    /// determined by its projections.
    pub fn product_form(&mut self, l: Language) -> Language {
        if let Some(known) = self.cached_result(Operation::Product(l)) {
            return known;
        }
        let mut product = if l == Language::EMPTY { l } else { Language::EPSILON };
        for class in self.classes(l) {
            let factor = self.project(l, class);
            product = self.concat(product, factor);
        }
        self.cache_result(Operation::Product(l), product);
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Letter;

    #[test]
    fn product_form_is_cached() {
        let mut store = Languages::new();
        let l = store.word(&[1, 0].map(|class| Letter { class, value: 0 }));
        let sorted = store.word(&[0, 1].map(|class| Letter { class, value: 0 }));
        assert_eq!(store.cached_result(Operation::Product(l)), None);
        assert_eq!(store.product_form(l), sorted);
        assert_eq!(store.cached_result(Operation::Product(l)), Some(sorted));
        store.cache_result(Operation::Product(l), Language::EMPTY);
        assert_eq!(store.product_form(l), Language::EMPTY);
    }
}
