import Foundation
import SatchelJSON

/// Returns a number that is neither an Int64 nor within the range of a double; null for any other text.
func big(_ text: String) -> JSONValue { JSONBigNumber(text).map { .bigNumber($0) } ?? .null }

/// Shared test data.
enum JSONFixture {
  /// Reads a file of Tests/Fixtures.
  static func read(_ path: String) throws -> JSONValue {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: "Fixtures").appending(path: path))
    return try data.withUnsafeBytes { try JSONValue(parsing: $0) }
  }

  /// Returns a random value of at most `levels` levels.
  static func random(_ generator: inout some RandomNumberGenerator, levels: Int) -> JSONValue {
    switch Int.random(in: 0..<(levels > 0 ? 9 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .int(Int64(bitPattern: generator.next()))
    case 3:
      return Bool.random(using: &generator) ? .double(finiteDouble(&generator)) : randomBigNumber(&generator)
    case 4, 5: return .string(randomText(&generator))
    case 6:
      let count = Int.random(in: 0...6, using: &generator)
      return .array((0..<count).map { _ in random(&generator, levels: levels - 1) })
    default:
      // Some objects are large enough to have an index.
      let count = Int.random(in: 0...30, using: &generator)
      return .object(
        JSONObject((0..<count).map { _ in (randomKey(&generator), random(&generator, levels: levels - 2)) }))
    }
  }

  private static func randomBigNumber(_ generator: inout some RandomNumberGenerator) -> JSONValue {
    let sign = ["", "-"].randomElement(using: &generator) ?? ""
    let digits = (0..<Int.random(in: 20...60, using: &generator)).map { _ in
      Int.random(in: 0...9, using: &generator)
    }
    let whole = sign + "9" + digits.map(String.init).joined()
    return big([whole, whole + ".5e400", whole + "E+0999999"].randomElement(using: &generator) ?? whole)
  }

  static func finiteDouble(_ generator: inout some RandomNumberGenerator) -> Double {
    while true {
      let value = Double(bitPattern: generator.next())
      if value.isFinite { return value }
    }
  }

  static func randomText(_ generator: inout some RandomNumberGenerator) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let highest: UInt32 = [0x20, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF].randomElement(using: &generator) ?? 0x7F
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...highest, using: &generator)) {
        text.append(scalar)
      }
    }
    return String(text)
  }

  private static func randomKey(_ generator: inout some RandomNumberGenerator) -> String {
    String(String.UnicodeScalarView(randomText(&generator).unicodeScalars.filter { $0.value != 0 }))
  }
}
