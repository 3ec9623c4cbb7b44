/// A latitude or longitude as a key has it: rounded to four decimals, about eleven metres.
struct Coordinate: Equatable, Sendable {
  /// Ten-thousandths of a degree.
  let units: Int

  /// - Parameter degrees: finite and within ±180, as `Location` has checked.
  init(degrees: Double) {
    let magnitude = min(degrees.magnitude, 360)
    let product = magnitude * 10_000
    let whole = product.rounded(.down)
    // What the multiplication rounded away: it decides where the product seems to lie exactly on the half.
    let lost = (-product).addingProduct(magnitude, 10_000)
    let fraction = product - whole
    let rounded = Int(whole) + (fraction > 0.5 || (fraction == 0.5 && lost >= 0) ? 1 : 0)
    units = degrees < 0 ? -rounded : rounded
  }

  /// The shortest form with at least one digit after the point: "31.2305", "10.0", "-0.1"; never "-0.0".
  var text: String {
    var digits = String(units.magnitude % 10_000)
    digits = String(repeating: "0", count: 4 - digits.utf8.count) + digits
    while digits.utf8.count > 1, digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
    return (units < 0 ? "-" : "") + String(units.magnitude / 10_000) + "." + digits
  }
}
