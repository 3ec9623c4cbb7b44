import Satchel

/// A landscape that is computed: sky, sun, hills, houses or a bridge, and water that mirrors them. Positions are
/// shares of the picture's width and height, from its upper left corner.
struct DemoScene {
  typealias Colour = JPEGImage.Colour

  /// A ridge of hills.
  struct Hills {
    var height: Double
    var swing: Double
    var colour: Colour

    func ridge(_ x: Double) -> Double {
      height - swing * (0.6 * sin(x * 5.1 + height * 40) + 0.4 * sin(x * 13.7 + height * 90))
    }
  }

  var sky: Colour
  /// The colour above the horizon.
  var haze: Colour
  /// Its centre and radius.
  var sun: (x: Double, y: Double, radius: Double)
  /// Where the water begins; more than 1 for none.
  var water: Double
  var sea: Colour
  /// From the farthest to the nearest.
  var hills: [Hills] = []
  /// The number of houses at the water; 0 for none.
  var houses = 0
  var hasBridge = false
  var isNight = false

  func colour(_ x: Double, _ y: Double) -> Colour {
    guard y >= water else { return land(x, y) }
    let depth = (y - water) / max(0.01, 1 - water)
    let wave = 0.012 * sin(y * 260 + 5 * sin(x * 7)) * (0.3 + depth)
    let mirrored = land(x + wave, max(0, 2 * water - y))
    return Self.mix(mirrored, sea, 0.35 + 0.4 * depth)
  }

  private func land(_ x: Double, _ y: Double) -> Colour {
    if hasBridge, isBridge(x, y) { return [54, 66, 78] }
    if let house = house(x, y) { return house }
    for layer in hills.reversed() where y > layer.ridge(x) {
      return Self.mix(layer.colour, haze, 0.25 * max(0, 1 - (y - layer.ridge(x)) * 8))
    }
    return air(x, y)
  }

  private func air(_ x: Double, _ y: Double) -> Colour {
    let horizon = min(water, 0.8)
    var colour = Self.mix(sky, haze, min(1, y / horizon) * min(1, y / horizon))
    let distance = ((x - sun.x) * (x - sun.x) * 2.25 + (y - sun.y) * (y - sun.y)).squareRoot() / sun.radius
    let light: Colour = isNight ? [232, 232, 220] : [255, 244, 214]
    colour = Self.mix(colour, light, distance < 1 ? 0.96 : 0.55 / (distance * distance))
    if isNight, y < 0.5, Self.chance(Int(x * 160), Int(y * 106)) > 0.992 { return [240, 240, 255] }
    return colour
  }

  /// A row of painted houses, with windows.
  private func house(_ x: Double, _ y: Double) -> Colour? {
    guard houses > 0 else { return nil }
    let position = x * Double(houses)
    let number = Int(position.rounded(.down))
    let top = water - 0.16 - 0.14 * Self.chance(number, 1)
    guard y > top else { return nil }
    if y < top + 0.018 { return isNight ? [70, 40, 44] : [178, 92, 66] }
    let colours: [Colour] = [
      [226, 178, 92], [206, 108, 84], [236, 222, 188], [112, 150, 176], [216, 150, 120], [186, 196, 160],
    ]
    let wall = colours[Int(Self.chance(number, 2) * 5.99)]
    let (column, row) = (position * 3, (y - top) * 26)
    let isWindow =
      (0.28..<0.72).contains(column - column.rounded(.down))
      && (0.30..<0.78).contains(row - row.rounded(.down))
    guard isNight else { return isWindow ? wall * 0.45 : wall }
    let isLit = Self.chance(Int(column) + 40, Int(row)) > 0.55
    return isWindow && isLit ? [255, 208, 122] : wall * 0.2
  }

  /// An arch of iron with two decks.
  private func isBridge(_ x: Double, _ y: Double) -> Bool {
    let (upper, lower) = (0.34, 0.70)
    func isIn(_ top: Double, _ bottom: Double) -> Bool { y >= top && y < bottom }
    if isIn(upper, upper + 0.022) || isIn(lower, lower + 0.018) { return true }
    let span = (x - 0.5) / 0.42
    guard abs(span) < 1 else { return isIn(upper, water) && abs(abs(x - 0.5) - 0.45) < 0.025 }
    let arch = upper + 0.03 + 0.40 * span * span
    if isIn(arch, arch + 0.035) { return true }
    // Struts between the arch and the decks.
    let strut = x * 26
    return abs(strut - strut.rounded()) < 0.09 && (isIn(upper, arch) || isIn(arch, lower))
  }

  private static func mix(_ one: Colour, _ other: Colour, _ share: Double) -> Colour {
    let share = min(max(share, 0), 1)
    return one * (1 - share) + other * share
  }

  /// A number from 0 to 1 that is the same for the same two numbers.
  private static func chance(_ one: Int, _ other: Int) -> Double {
    var bits = UInt64(bitPattern: Int64(one &* 73_856_093 ^ other &* 19_349_663))
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Double((bits ^ bits >> 31) >> 11) / Double(UInt64(1) << 53)
  }
}
