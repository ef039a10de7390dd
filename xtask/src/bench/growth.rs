//! The growth of a figure with the parameter of a family: least squares over logarithms.

/// Returns `b` of the line `ln y = a + b x` with the least squares, or `None` with fewer than two
/// different values of x. Points with y = 0 have no logarithm and are left out.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        points.iter().filter(|(_, y)| *y > 0.0).map(|(x, y)| (*x, y.ln())).collect();
    let n = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let product: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 0.0).then(|| product / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points = [2.0, 3.0, 5.0].map(|x: f64| (x, 7.0 * 10f64.powf(x)));
        let found = exponent(&points).expect("three points");
        assert!((found - 10f64.ln()).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_line_has_the_least_squares() {
        // ln y is 0, 2, 1: the slope of the regression line is 0.5.
        let points = [(0.0, 1.0), (1.0, 2f64.exp()), (2.0, 1f64.exp())];
        let found = exponent(&points).expect("three points");
        assert!((found - 0.5).abs() < 1e-9, "{found}");
    }

    #[test]
    fn one_value_has_no_exponent() {
        assert_eq!(exponent(&[]), None);
        assert_eq!(exponent(&[(2.0, 5.0)]), None);
        assert_eq!(exponent(&[(2.0, 5.0), (3.0, 0.0)]), None);
    }
}
