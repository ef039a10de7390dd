//! Random tests: no program makes the checker panic, and it returns no tree exactly if it reported
//! an error.

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use crate::c::check::check;
use crate::c::{PreprocessOptions, parse_unit};

/// A program with most features, as words.
const PROGRAM: &str = "\
#include <stdatomic.h>\n#include <pthread.h>\n#include <stdlib.h>\n
typedef struct node { int value ; struct node * next ; union { char c [ 4 ] ; long l ; } ; \
int b : 3 ; int tail [ ] ; } node_t ;
_Atomic ( node_t * ) top ; enum color { RED , GREEN = 4 , BLUE } ; volatile int flag ;
static int numbers [ ] = { 1 , [ 3 ] = RED , 5 , [ 6 ... 8 ] = GREEN } ; char text [ ] = \"text\" ;
node_t first = { . value = 1 , & first , { . l = 2 } } , * pointer = & first ;
struct pair { int a , b ; } ; struct pair make ( int a ) { struct pair p = { a , a + 1 } ; return p ; }
int ( * table [ 2 ] ) ( int ) ; _Thread_local unsigned char small ; double unused ;
static int twice ( int x ) { static int calls = 0 ; calls ++ ; return x * 2 ; }
void * run ( void * argument ) { unsigned char expected = 0 ; long wide = sizeof ( node_t ) ;
  for ( int i = 0 ; i < 3 ; i ++ ) { numbers [ i ] += argument ? 1 : 2 ; if ( flag ) break ; }
  switch ( numbers [ 0 ] ) { case RED : wide <<= 2 ; case 7 ... 9 : continue_ : flag = 1 ; default : ; }
  while ( ! atomic_compare_exchange_strong ( & small , & expected , 1 ) ) goto out ;
  pointer -> next = malloc ( sizeof * pointer ) ; pointer -> c [ 1 ] = 'x' ; pointer = pointer + 1 ;
out : __asm__ volatile ( \"mfence\" ::: \"memory\" ) ; make ( 3 ) . b ; ( ( struct pair ) { 1 } ) . a ;
  wide = ( long ) pointer - ~ wide % 7 ; ( * table [ 1 ] ) ( 3 ) ; return ( void * ) wide ; }
int main ( void ) { pthread_t t ; table [ 0 ] = twice ; pthread_create ( & t , 0 , run , & first ) ;
  do { flag = ({ int k = twice ( 2 ) ; k ; }) ?: 4 ; } while ( __sync_fetch_and_add ( & flag , 1 ) ) ;
  __typeof__ ( flag ) copy = _Generic ( flag , int : 1 , default : 2 ) ; pthread_join ( t , 0 ) ;
  int matrix [ 2 ] [ 3 ] = { { 1 } , 2 } ; return matrix [ 1 ] [ 0 ] + copy && ( flag , text [ 0 ] ) ; }
";

fn checked(text: &str) -> (bool, Vec<String>) {
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessOptions::default();
    let (map, unit) = parse_unit("main.c", text, &options, &mut diagnostics);
    // The checker also sees trees of texts with syntax errors.
    let mut own = Diagnostics::new();
    let program = check(&unit, &map, &mut own);
    assert_eq!(program.is_none(), own.has_errors());
    diagnostics.append(own);
    (program.is_some(), diagnostics.iter().map(|d| d.message.clone()).collect())
}

#[test]
fn the_program_of_the_random_tests_is_valid() {
    assert_eq!(checked(PROGRAM), (true, vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Words of the program replace other words, or are removed.
    #[test]
    fn mutated_programs_are_checked_without_panic(
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()),
            1..4,
        ),
    ) {
        let mut words: Vec<&str> = PROGRAM.split(' ').collect();
        for (at, from, remove) in changes {
            let word = words[from.index(words.len())];
            let at = at.index(words.len());
            words[at] = if remove { "" } else { word };
        }
        checked(&words.join(" "));
    }
}
