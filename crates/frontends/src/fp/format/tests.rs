//! Layouts, one habit of the formatter each.

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
fn keeps(source: &str) {
    check(source, source);
}

#[test]
fn nothing_stays_nothing() {
    keeps("");
    check("  \n\n", "");
    keeps("// only this\n");
}

#[test]
fn items() {
    check(
        "const N=3;enum S{a,b,}record R{int v;R n;int s[2];}pool R[4];\n\
         shared int(0..=4)x=1,y , a[2]={1,2};property mutual_exclusion;final never x==1;\n\
         client  p pt( tpt|sss );operation int take()as t{return 1;}observe x,p(0).r;\n\
         operation int steal()as s ,aborts  -N,owner,repeats{return 1;}property linearizable  operations;",
        "const N = 3;\nenum S { a, b }\nrecord R { int v; R n; int s[2]; }\npool R[4];\n\
         shared int(0..=4) x = 1, y, a[2] = {1, 2};\nproperty mutual_exclusion;\n\
         final never x == 1;\nclient p pt(tpt|sss);\noperation int take() as t { return 1; }\n\
         observe x, p(0).r;\noperation int steal() as s, aborts -N, owner, repeats { return 1; }\n\
         property linearizable operations;\n",
    );
}

#[test]
fn statements() {
    check(
        "thread p {\nif(c)x=1;else if(d){y=2;}else{\nz=3;}while(x<1)\nx++;for(;;)break;\n\
         for(int i=0;i<2;i++){\na[i]+=1;}loop{\n}do\nx--;while(c);L:\nfence store_load,full;drain x;\n\
         atomic{assume(c);}critical{skip;}free(n.next);goto L;return;;}",
        "thread p {\n  if (c)\n    x = 1;\n  else if (d) {\n    y = 2;\n  } else {\n    z = 3;\n  }\n  \
         while (x < 1)\n    x++;\n  for (;;) break;\n  for (int i = 0; i < 2; i++) {\n    a[i] += 1;\n  }\n  \
         loop {\n  }\n  do\n    x--;\n  while (c);\n  L:\n  fence store_load, full;\n  drain x;\n  \
         atomic { assume(c); }\n  critical { skip; }\n  free(n.next);\n  goto L;\n  return;\n  ;\n}\n",
    );
}

#[test]
fn expressions() {
    check(
        "const N=-(- -1)+~2*(3-4)<<1;const B=!a||b&&c?d:e;const C=f( 0x1F,cas(x,1,2))[i].g;",
        "const N = -(- -1) + ~2 * (3 - 4) << 1;\nconst B = !a || b && c ? d : e;\n\
         const C = f(0x1F, cas(x, 1, 2))[i].g;\n",
    );
}

#[test]
fn what_is_on_one_line_stays_there_if_it_fits() {
    keeps("thread p { do { w = x; } while (w); critical { skip; } }\n");
    keeps("thread p {\n  do {\n    w = x;\n  } while (w);\n}\n");
    let long = "value = value + 1; ".repeat(6);
    let spread = "  value = value + 1;\n".repeat(6);
    check(&format!("thread p {{ {long}}}"), &format!("thread p {{\n{spread}}}\n"));
}

#[test]
fn blank_lines_are_kept_one_at_a_time() {
    check(
        "\n\nshared int x;\n\n\n\nthread p {\n\n  x = 1;\n\n\n  x = 2;\n\n}\n\n",
        "shared int x;\n\nthread p {\n  x = 1;\n\n  x = 2;\n}\n",
    );
}

#[test]
fn comments_stay_where_they_belong() {
    keeps("// first\n\n// about x\nshared int x; // x\n/* last */\n");
    keeps(
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
fn comments_behind_code_keep_their_column() {
    keeps("thread p {\n  x = 1;       // one\n  y = x + 1;   // two\n}\n");
    check(
        "thread p {\n  x=1;    // one\n  longer=x+1; // two\n}\n",
        "thread p {\n  x = 1;  // one\n  longer = x + 1; // two\n}\n",
    );
}
