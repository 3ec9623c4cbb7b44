/// Types for the tests of the coders, encoded with both this library's and Foundation's.
struct CodingNumbers: Codable, Equatable {
  var int8 = Int8.min
  var int16 = Int16.max
  var int32 = Int32.min
  var int64 = Int64.max
  var int = Int.min
  var uint8 = UInt8.max
  var uint16 = UInt16.max
  var uint32 = UInt32.max
  var uint64 = UInt64(Int64.max)
  var uint = UInt(7)
  var float = Float(0.1)
  var double = 0.1
  var whole = 3.0
  var large = 1e300
  var truth = true
}

enum CodingShape: Codable, Equatable {
  case circle(radius: Double)
  case line(from: [Int], to: [Int], label: String?)
  case nothing
  indirect case group(CodingShape, CodingShape)
}

enum CodingColour: String, Codable { case red, green }

struct CodingWrapper: Codable, Equatable {
  var text: String

  init(_ text: String) { self.text = text }

  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

struct CodingDocument: Codable, Equatable {
  var numbers = CodingNumbers()
  var shapes: [CodingShape] = [
    .circle(radius: 1.5), .nothing, .line(from: [], to: [1, 2], label: nil),
    .group(.nothing, .line(from: [0], to: [], label: "é")),
  ]
  var absent: String?
  var present: String? = "\u{0}\"\\/\u{7F}😀"
  var gaps: [Int?] = [1, nil, 3]
  var counts: [String: Int] = ["a": 1, "e\u{301}": 2, "": 3]
  var numbered: [Int: [Bool]] = [5: [true], -1: []]
  var colours: [CodingColour: Int] = [.red: 1]
  var wrapper = CodingWrapper("wrapped")
  var colour: CodingColour? = .green
  var bytes: [UInt8] = [0, 255]
  var empty = CodingEmpty()
  var nested: [[[Double]]] = [[[1.25], []], []]
}

struct CodingEmpty: Codable, Equatable {}

/// Encodes nothing, not even a container.
struct CodingSilent: Encodable {
  func encode(to encoder: any Encoder) throws {}
}

class CodingAnimal: Codable {
  var name: String

  init(name: String) { self.name = name }
}

final class CodingDog: CodingAnimal {
  private enum CodingKeys: CodingKey { case tricks }

  var tricks: [String]

  init(name: String, tricks: [String]) {
    self.tricks = tricks
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tricks = try container.decode([String].self, forKey: .tricks)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
    try super.encode(to: container.superEncoder())
  }
}

/// Writes into its containers alternately, and requests them more than once.
struct CodingByHand: Codable, Equatable {
  enum Keys: String, CodingKey { case list, inner, null, parent }

  var first = 1
  var second = "two"

  init() {}

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try list.encode(first)
    try inner.encodeNil(forKey: .null)
    try list.encodeNil()
    var deep = list.nestedUnkeyedContainer()
    var keyed = list.nestedContainer(keyedBy: Keys.self)
    try deep.encode(second)
    try keyed.encode(second, forKey: .inner)
    try ["super"].encode(to: list.superEncoder())
    try list.encode(Int8(-5))
    var again = container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
    try again.encode(first, forKey: .list)
    try CodingWrapper("parent").encode(to: container.superEncoder(forKey: .parent))
    _ = encoder.container(keyedBy: Keys.self)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    var list = try container.nestedUnkeyedContainer(forKey: .list)
    let inner = try container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
    guard try inner.decodeNil(forKey: .null), try !container.decodeNil(forKey: .inner), list.count == 6 else {
      throw CodingFailure.unexpected
    }
    first = try list.decode(Int.self)
    guard try list.decodeNil(), try !list.decodeNil() else { throw CodingFailure.unexpected }
    var deep = try list.nestedUnkeyedContainer()
    second = try deep.decode(String.self)
    guard deep.isAtEnd, try list.nestedContainer(keyedBy: Keys.self).contains(.inner),
      try [String](from: list.superDecoder()) == ["super"], (try? list.decode(String.self)) == nil,
      try list.decode(Int8.self) == -5, list.isAtEnd, list.currentIndex == 6,
      try CodingWrapper(from: container.superDecoder(forKey: .parent)).text == "parent"
    else { throw CodingFailure.unexpected }
  }
}

enum CodingFailure: Error { case unexpected }

/// Runs a test's closure in `encode(to:)`.
struct CodingScript: Encodable {
  var body: @Sendable (any Encoder) throws -> Void

  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

/// Contains itself recursively.
final class CodingCycle: Encodable {
  enum Style { case single, keyed, unkeyed, nested }

  let style: Style

  init(_ style: Style) { self.style = style }

  func encode(to encoder: any Encoder) throws {
    switch style {
    case .single:
      var container = encoder.singleValueContainer()
      try container.encode(self)
    case .keyed:
      var container = encoder.container(keyedBy: CodingByHand.Keys.self)
      try container.encode(self, forKey: .inner)
    case .unkeyed:
      var container = encoder.unkeyedContainer()
      try container.encode(self)
    case .nested:
      var container = encoder.unkeyedContainer()
      for _ in 0..<2_000 { container = JSONStep.into(container) }
    }
  }
}

enum JSONStep {
  static func into(_ container: any UnkeyedEncodingContainer) -> any UnkeyedEncodingContainer {
    var container = container
    return container.nestedUnkeyedContainer()
  }
}
