import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@Suite("Swift values as JSON")
struct CodingTests {
  /// Returns Foundation's encoding. It writes 3.0 as 3, so numbers are compared numerically.
  private func foundation(_ value: some Encodable) throws -> JSONValue {
    try JSONValue(parsing: [UInt8](JSONEncoder().encode(value)))
  }

  private func asNumbers(_ value: JSONValue) -> JSONValue {
    switch value {
    case .double(let number): Int64(exactly: number).map { .int($0) } ?? value
    case .array(let elements): .array(elements.map(asNumbers))
    case .object(let members): .object(JSONObject(members.map { ($0.key, asNumbers($0.value)) }))
    default: value
    }
  }

  private func agree<Value: Codable & Equatable>(_ value: Value) throws {
    let ours = try JSONValue(encoding: value)
    let theirs = try foundation(value)
    #expect(asNumbers(ours) == asNumbers(theirs))
    #expect(try ours.decode(as: Value.self) == value)
    #expect(try theirs.decode(as: Value.self) == value)
    #expect(try JSONDecoder().decode(Value.self, from: Data(ours.serialized())) == value)
  }

  @Test("have the same form as with Foundation, and each decodes the other's")
  func sameAsFoundation() throws {
    try agree(CodingDocument())
    try agree(CodingNumbers())
    try agree(CodingByHand())
    try agree([CodingShape.nothing, .circle(radius: 0)])
    try agree([String: [Int?]]())
    try agree(["a": [nil, 1]])
    try agree(5)
    try agree("text")
    try agree(CodingColour.red)
    try agree(Int?.none)
    try agree([1: ["x"], 2: []])
    try agree([[CodingEmpty()]])
  }

  @Test("of random documents equal Foundation's", arguments: 1...8 as ClosedRange<UInt64>)
  func randomValues(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    for _ in 0..<40 {
      let value = JSONFixture.random(&generator, levels: 4)
      #expect(try JSONValue(encoding: value) == value)
      #expect(try JSONValue(encoding: ["inside": [value]]) == ["inside": [value]])
      #expect(try value.decode(as: JSONValue.self) == value)
      #expect(try JSONValue.array([value]).decode(as: [JSONValue].self) == [value])
    }
  }

  @Test("distinguish integers and doubles")
  func numbers() throws {
    #expect(try JSONValue(encoding: [1.0]) == [1.0])
    #expect(try JSONValue(encoding: [1]) == [1])
    #expect(try JSONValue(encoding: Float(0.1)) == 0.1)
    for bits: UInt32 in [1, 0x7F7F_FFFF, 0x8000_0000, 0x0080_0000, 0x3DCC_CCCD, 0x3EAA_AAAB] {
      let float = Float(bitPattern: bits)
      #expect(try JSONValue(encoding: float).decode(as: Float.self).bitPattern == bits)
    }
    #expect(try JSONValue.double(2).decode(as: Int.self) == 2)
    #expect(try JSONValue.int(2).decode(as: Double.self) == 2)
    #expect(try JSONValue(encoding: Int128(Int64.min)) == .int(.min))
    #expect(try JSONValue.int(.min).decode(as: Int128.self) == Int128(Int64.min))
    let wide: [String: [UInt128]] = ["a": [7]]
    #expect(try JSONValue(encoding: wide).decode(as: [String: [UInt128]].self) == wide)
    let wider: [String: Int128] = ["a": -7]
    #expect(try JSONValue(encoding: wider).decode(as: [String: Int128].self) == wider)
  }

  @Test("of any integer width are exact; what does not fit is an error with its location")
  func bigNumbers() throws {
    #expect(try JSONValue(encoding: CodingNumbers(uint64: .max))["uint64"] == big("18446744073709551615"))
    #expect(try JSONValue(encoding: [Int128.min]) == [big("\(Int128.min)")])
    #expect(try JSONValue(encoding: ["a": UInt128.max]).decode(as: [String: UInt128].self) == ["a": .max])
    #expect(try JSONValue.array([big("18446744073709551615")]).decode(as: [UInt64].self) == [.max])
    func refusal<Value: Decodable>(_ number: String, _ type: Value.Type) throws -> JSONError {
      let value: JSONValue = ["a": [big(number)]]
      return JSONError(
        try #require(throws: DecodingError.self) { try value.decode(as: [String: [Value]].self) })
    }
    for error in [
      try refusal("18446744073709551615", Int.self), try refusal("1e400", Double.self),
      try refusal("-1e400", Float.self), try refusal("1e400", UInt128.self),
    ] {
      #expect(error.pointer == "/a/0" && error.reason.contains("does not fit into"), "\(error)")
    }
  }

  @Test("of classes have their superclass under its own key")
  func classes() throws {
    let dog = CodingDog(name: "Rex", tricks: ["sit"])
    let json = try JSONValue(encoding: dog)
    #expect(json == ["tricks": ["sit"], "super": ["name": "Rex"]])
    #expect(try json == foundation(dog))
    let back = try json.decode(as: CodingDog.self)
    #expect(back.name == "Rex" && back.tricks == ["sit"])
  }

  @Test("omit nil properties, and have null where Swift encodes it")
  func nils() throws {
    let json = try JSONValue(encoding: CodingDocument())
    #expect(json["absent"] == nil)
    #expect(json["gaps"] == [1, .null, 3])
    #expect(try JSONValue(encoding: Int?.none) == .null)
    #expect(try JSONValue.object(["text": .null]).decode(as: [String: String?].self) == ["text": nil])
  }

  @Test("that encode nothing are an error at the root, and an empty object inside")
  func silent() throws {
    #expect(throws: EncodingError.self) { try JSONValue(encoding: CodingSilent()) }
    #expect(try JSONValue(encoding: [CodingSilent()]) == [.object([:])])
    #expect(try JSONValue(encoding: ["a": CodingSilent()]) == ["a": .object([:])])
    #expect(try foundation([CodingSilent()]) == [.object([:])])
  }

  private static let refusals: [(@Sendable () throws -> Void, String, String)] = [
    ({ _ = try JSONValue(encoding: ["a": [1, Double.nan]]) }, "/a/1", "nan"),
    ({ _ = try JSONValue(encoding: [Float.infinity]) }, "/0", "inf"),
    ({ _ = try JSONValue(encoding: -Double.infinity) }, "", "inf"),
    ({ _ = try JSONValue(encoding: [["a\u{0}": 1]]) }, "/0", "NUL"),
    ({ _ = try JSONValue(encoding: ["v": JSONValue.array([.double(.nan)])]).text }, "/v/0", "nan"),
  ]

  @Test(
    "that cannot be represented in JSON are refused with their location",
    arguments: refusals.indices)
  func refused(index: Int) throws {
    let (attempt, pointer, word) = Self.refusals[index]
    do {
      try attempt()
      Issue.record("it was taken")
    } catch let error as EncodingError {
      let refusal = JSONError(error)
      #expect(refusal.pointer == pointer && refusal.reason.contains(word), "\(refusal)")
      guard case .invalidValue(_, let context) = error else { return }
      #expect(context.debugDescription == refusal.description)
    } catch let error as JSONError {
      // A JSONValue is checked when it is written.
      #expect(error.pointer == pointer && error.reason.contains(word))
    }
  }

  @Test(
    "that contain themselves are refused",
    arguments: [.single, .keyed, .unkeyed, .nested] as [CodingCycle.Style])
  func cycles(style: CodingCycle.Style) {
    #expect(throws: EncodingError.self) { try JSONValue(encoding: CodingCycle(style)) }
  }

  @Test("that misuse an encoder get an error, not a trap")
  func misuse() {
    let scripts: [@Sendable (any Encoder) throws -> Void] = [
      {
        _ = $0.unkeyedContainer()
        _ = $0.container(keyedBy: CodingByHand.Keys.self)
      },
      {
        var single = $0.singleValueContainer()
        try single.encode(1)
        try single.encode(2)
      },
      {
        var keyed = $0.container(keyedBy: CodingByHand.Keys.self)
        _ = keyed.nestedContainer(keyedBy: CodingByHand.Keys.self, forKey: .inner)
        _ = keyed.nestedUnkeyedContainer(forKey: .inner)
      },
      {
        try 1.encode(to: $0)
        var list = $0.unkeyedContainer()
        try list.encode("more")
      },
    ]
    for script in scripts {
      #expect(throws: EncodingError.self) { try JSONValue(encoding: [CodingScript(body: script)]) }
    }
  }

  @Test(
    "are refused when they do not fit, with the location",
    arguments: [
      (#"{"a":[1,300]}"#, "/a/1", "300"), (#"{"a":[1,-1]}"#, "/a/1", "-1"), (#"{"a":[1.5]}"#, "/a/0", "1.5"),
      (#"{"a":["1"]}"#, "/a/0", "a string, not a number"), (#"{"a":[null]}"#, "/a/0", "null"),
      (#"{"a":{}}"#, "/a", "an object, not an array"), ("[]", "", "an array, not an object"),
      (#"{"a":[1e300]}"#, "/a/0", "1e+300"),
    ])
  func misfits(text: String, pointer: String, word: String) throws {
    let json = try JSONValue(parsing: text)
    let error = try #require(throws: DecodingError.self) { try json.decode(as: [String: [UInt8]].self) }
    let refusal = JSONError(error)
    #expect(refusal.pointer == pointer && refusal.reason.contains(word), "\(refusal)")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([String: [UInt8]].self, from: Data(text.utf8))
    }
  }

  @Test("with a missing key report the key and the location")
  func missingKey() throws {
    let json: JSONValue = ["list": [["text": "x"], [:]]]
    struct Item: Decodable { var text: String }
    let error = try #require(throws: DecodingError.self) { try json.decode(as: [String: [Item]].self) }
    #expect(JSONError(error).description == #"at /list/1: there is no "text""#)
    guard case .keyNotFound(let key, let context) = error else {
      Issue.record("another error: \(error)")
      return
    }
    #expect(key.stringValue == "text" && context.codingPath.map(\.intValue) == [nil, 1])
  }

  @Test("of every integer width have the limits of the width")
  func widths() throws {
    func check<Integer: FixedWidthInteger & Codable & Equatable>(_ type: Integer.Type) throws {
      for value in [Integer.min, .max, 0, 1] where Int64(exactly: value) != nil {
        #expect(try JSONValue(encoding: value).decode(as: type) == value)
      }
      for limit in [Int64(exactly: Integer.max), Int64(exactly: Integer.min)] {
        guard let limit, limit != .max, limit != .min else { continue }
        let beyond = limit > 0 ? limit + 1 : limit - 1
        #expect(throws: DecodingError.self) { try JSONValue.int(beyond).decode(as: type) }
        #expect(throws: DecodingError.self) { try JSONValue.array([.int(beyond)]).decode(as: [Integer].self) }
      }
      #expect(throws: DecodingError.self) { try JSONValue.double(1e30).decode(as: type) }
    }
    try check(Int8.self)
    try check(Int16.self)
    try check(Int32.self)
    try check(Int64.self)
    try check(Int.self)
    try check(UInt8.self)
    try check(UInt16.self)
    try check(UInt32.self)
    try check(UInt64.self)
    try check(UInt.self)
    #expect(throws: DecodingError.self) { try JSONValue.double(1e300).decode(as: Float.self) }
  }

  @Test("of 512 levels are accepted, of 513 refused")
  func levels() throws {
    indirect enum Chain: Codable {
      case end
      case link(Chain)

      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self = container.isAtEnd ? .end : .link(try container.decode(Chain.self))
      }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if case .link(let next) = self { try container.encode(next) }
      }
    }
    var chain = Chain.end
    var json = JSONValue.array([])
    for _ in 1..<512 {
      chain = .link(chain)
      json = [json]
    }
    #expect(try JSONValue(encoding: chain) == json)
    _ = try json.decode(as: Chain.self)
    #expect(throws: EncodingError.self) { try JSONValue(encoding: Chain.link(chain)) }
    #expect(throws: EncodingError.self) { try JSONValue(encoding: [json]) }
    #expect(throws: DecodingError.self) { try JSONValue.array([json]).decode(as: Chain.self) }
  }
}
