//! Languages one after another, and class by class.
//!
//! [`Languages::concat`] puts two languages one after the other, [`Languages::star`] one after itself.
//! [`Languages::project`] looks at the letters of one class alone, and [`Languages::last_only`] leaves out those of
//! a class that a later one makes superfluous. [`Languages::product`] is both: the projections one after
//! another, which is what remains of a language when only the order within each class counts.
//! Direction: exact, each for what it is defined to be. That a product may take the place of a
//! language is for the caller to know.

use crate::languages::Operation;
use crate::{Language, Languages, operations};

impl Languages {
    /// `A . B`: each word of the one with each word of the other after it.
    pub fn concat(&mut self, a: Language, b: Language) -> Language {
        match (a, b) {
            (Language::EMPTY, _) | (_, Language::EMPTY) => Language::EMPTY,
            (Language::EPSILON, only) | (only, Language::EPSILON) => only,
            (a, b) => self.make(Operation::Concat(a, b), |store| {
                operations::concat(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// `L*`: words of the language one after another, any number of them.
    pub fn star(&mut self, l: Language) -> Language {
        if l == Language::EMPTY || l == Language::EPSILON {
            return Language::EPSILON;
        }
        self.make(Operation::Star(l), |store| operations::star(store.dfa(l)))
    }

    /// Every word with only its letters of one class.
    pub fn project(&mut self, l: Language, class: u32) -> Language {
        self.make(Operation::Project(l, class), |store| operations::project(store.dfa(l), class))
    }

    /// Every word without its letters of one class but the last of them.
    pub fn last_only(&mut self, l: Language, class: u32) -> Language {
        self.make(Operation::LastOnly(l, class), |store| operations::last_only(store.dfa(l), class))
    }

    /// What the language becomes when the letters of each class are chosen on their own: its projections to
    /// the classes one after another, in order. A language that is its own product is
    /// known by its projections.
    pub fn product(&mut self, l: Language) -> Language {
        if let Some(known) = self.known(Operation::Product(l)) {
            return known;
        }
        let mut product = if l == Language::EMPTY { l } else { Language::EPSILON };
        for class in self.classes(l) {
            let factor = self.project(l, class);
            product = self.concat(product, factor);
        }
        self.remember(Operation::Product(l), product);
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Letter;

    #[test]
    fn a_product_is_remembered() {
        let mut store = Languages::new();
        let l = store.word(&[1, 0].map(|class| Letter { class, value: 0 }));
        let sorted = store.word(&[0, 1].map(|class| Letter { class, value: 0 }));
        assert_eq!(store.known(Operation::Product(l)), None);
        assert_eq!(store.product(l), sorted);
        assert_eq!(store.known(Operation::Product(l)), Some(sorted));
        store.remember(Operation::Product(l), Language::EMPTY);
        assert_eq!(store.product(l), Language::EMPTY);
    }
}
