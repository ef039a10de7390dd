//! Tests of the layout rules of the formatter.

use fencepost_ir::Diagnostics;

use super::format;

#[track_caller]
fn check(source: &str, expected: &str) {
    let mut diagnostics = Diagnostics::new();
    let once = format(source, &mut diagnostics).expect("no errors");
    assert_eq!(once, expected);
    assert_eq!(format(&once, &mut diagnostics).expect("no errors"), once, "not stable");
}

#[track_caller]
fn check_unchanged(source: &str) {
    check(source, source);
}

#[test]
fn an_empty_file_stays_empty() {
    check_unchanged("");
    check("  \n\n", "");
    check_unchanged("// only this\n");
}

#[test]
fn items_are_formatted() {
    check(
        "const N=3;enum S{a,b,}record R{int v;R n;int s[2];}pool R[4];\n\
         shared int(0..=4)x=1,y , a[2]={1,2};property mutual_exclusion;final never x==1;\n\
         client  p pt( tpt|sss );operation int take()as t{return 1;}observe x,p(0).r;\n\
         operation int steal()as s ,aborts  -N,owner,repeats{return 1;}property linearizable  operations;\n\
         client ( e|e )d  d;finally{assert(x==1) ;}",
        "const N = 3;\nenum S { a, b }\nrecord R { int v; R n; int s[2]; }\npool R[4];\n\
         shared int(0..=4) x = 1, y, a[2] = {1, 2};\nproperty mutual_exclusion;\n\
         final never x == 1;\nclient p pt(tpt|sss);\noperation int take() as t { return 1; }\n\
         observe x, p(0).r;\noperation int steal() as s, aborts -N, owner, repeats { return 1; }\n\
         property linearizable operations;\nclient (e|e)d d;\nfinally { assert(x == 1); }\n",
    );
}

#[test]
fn statements_are_formatted() {
    check(
        "thread p {\nif(c)x=1;else if(d){y=2;}else{\nz=3;}while(x<1)\nx++;for(;;)break;\n\
         for(int i=0;i<2;i++){\na[i]+=1;}loop{\n}do\nx--;while(c);L:\nfence store_load,full;drain x;\n\
         atomic{assume(c);}await ( x==1 );critical{skip;}free(n.next);goto L;return;;}",
        "thread p {\n  if (c)\n    x = 1;\n  else if (d) {\n    y = 2;\n  } else {\n    z = 3;\n  }\n  \
         while (x < 1)\n    x++;\n  for (;;) break;\n  for (int i = 0; i < 2; i++) {\n    a[i] += 1;\n  }\n  \
         loop {\n  }\n  do\n    x--;\n  while (c);\n  L:\n  fence store_load, full;\n  drain x;\n  \
         atomic { assume(c); }\n  await(x == 1);\n  critical { skip; }\n  free(n.next);\n  goto L;\n  return;\n  ;\n}\n",
    );
}

#[test]
fn alternatives_are_formatted() {
    check(
        "thread p { either { when ( x==1 ) ;y=1; } or{}\neither{ when(c);\n\
         // done\nskip; }or {\n when(d); } // end\n or { skip; }}",
        "thread p {\n  either { when(x == 1); y = 1; } or {}\n  either {\n    when(c);\n    // done\n    \
         skip;\n  } or {\n    when(d);\n  } or { // end\n    skip;\n  }\n}\n",
    );
    // The words are names where `either` is not possible.
    check_unchanged("thread p {\n  either = 1;\n  or: when = either;\n  when(1);\n}\n");
}

#[test]
fn expressions_are_formatted() {
    check(
        "const N=-(- -1)+~2*(3-4)<<1;const B=!a||b&&c?d:e;const C=f( 0x1F,cas(x,1,2))[i].g;",
        "const N = -(- -1) + ~2 * (3 - 4) << 1;\nconst B = !a || b && c ? d : e;\n\
         const C = f(0x1F, cas(x, 1, 2))[i].g;\n",
    );
}

#[test]
fn code_on_one_line_stays_on_one_line_if_it_fits() {
    check_unchanged("thread p { do { w = x; } while (w); critical { skip; } }\n");
    check_unchanged("thread p {\n  do {\n    w = x;\n  } while (w);\n}\n");
    let long = "value = value + 1; ".repeat(6);
    let spread = "  value = value + 1;\n".repeat(6);
    check(&format!("thread p {{ {long}}}"), &format!("thread p {{\n{spread}}}\n"));
}

#[test]
fn a_run_of_blank_lines_becomes_one_blank_line() {
    check(
        "\n\nshared int x;\n\n\n\nthread p {\n\n  x = 1;\n\n\n  x = 2;\n\n}\n\n",
        "shared int x;\n\nthread p {\n  x = 1;\n\n  x = 2;\n}\n",
    );
}

#[test]
fn comments_stay_next_to_their_code() {
    check_unchanged("// first\n\n// about x\nshared int x; // x\n/* last */\n");
    check_unchanged(
        "thread p { // p\n  // before\n  x = 1; /* after */ // and more\n  // at the end\n} // done\n",
    );
    check(
        "/* a */ shared int /* b */ x /* c */; // d\n",
        "/* a */\nshared int x; /* b */ /* c */ // d\n",
    );
    check(
        "thread p {\n  x = // one\n    1; // two\n}\n",
        "thread p {\n  // one\n  x = 1; // two\n}\n",
    );
    check(
        "thread p {\n  if (a) {\n    x = 1;\n  } // yes\n  else { // no\n    x = 2;\n  }\n}\n",
        "thread p {\n  if (a) {\n    x = 1;\n    // yes\n  } else { // no\n    x = 2;\n  }\n}\n",
    );
    check("thread p { x = 1; // why\n}\n", "thread p {\n  x = 1; // why\n}\n");
}

#[test]
fn comments_after_code_keep_their_column() {
    check_unchanged("thread p {\n  x = 1;       // one\n  y = x + 1;   // two\n}\n");
    check(
        "thread p {\n  x=1;    // one\n  longer=x+1; // two\n}\n",
        "thread p {\n  x = 1;  // one\n  longer = x + 1; // two\n}\n",
    );
}
