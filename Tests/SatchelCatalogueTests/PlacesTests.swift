import Foundation
import SatchelCatalogue
import SatchelCore
import SatchelJSON
import SatchelTesting
import Testing

/// Tests/Fixtures/vectors/places.json.
private func vectors(_ part: String) throws -> [JSONValue] {
  let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  let data = try Data(contentsOf: folder.appending(path: "Fixtures/vectors/places.json"))
  let all = try data.withUnsafeBytes { try JSONValue(parsing: $0) }
  let items = try #require(all[part]?.arrayValue)
  try #require(!items.isEmpty)
  return items
}

@Suite("Places")
struct PlacesTests {
  @Test("every normalization of the vectors, byte by byte", arguments: try vectors("normalize"))
  func normalize(example: JSONValue) throws {
    let pair = try #require(example.arrayValue)
    let result = pair[0].stringValue.flatMap(PlaceText.normalize)
    #expect(result.map(JSONValue.string) ?? .null == pair[1])
  }

  @Test(
    "normalization of difficult strings",
    arguments: [
      ("a,b", "ab"), (" , a , b , ", "a_b"), ("a_b  c", "a_b_c"), ("_", "_"),
      ("a\tb\u{0}c\u{1F}d\u{85}e\u{A0}f\u{3000}g\u{2028}h", "a_b_c_d_e_f_g_h"), ("a\u{7F}b", "a_b"),
      ("ΐ", "ι"), ("ᾼ", "α"), ("Ё Ї", "е_і"), ("Tiếng Việt", "tieng_viet"), ("Đà Nẵng", "da_nang"),
      ("Łódź", "lodz"), ("ΑΘΉΝΑΣ", "αθηνας"), ("Αθήνας", "αθηνας"), ("ΣΑΣ ΣΣ", "σας_σς"),
      ("\u{212B}ngström \u{212A}elvin", "angstrom_kelvin"), ("ẞ", "ß"), ("한국", "한국"),
      ("a,\u{301}b", "ab"), ("، ,", "،"), ("e\u{301}\u{327}", "e"), ("x\u{20DD}", "x"), ("Ⓐ", "ⓐ"),
      ("\u{301}a", "\u{301}a"), ("か\u{3099}", "が"), ("Ａ\u{301}", "ａ"),
      ("Tromsø", "tromso"), ("Ħal Għaxaq", "hal_ghaxaq"), ("Diyarbakır", "diyarbakir"),
      ("DİYARBAKIR", "diyarbakir"), ("Ærø", "aero"), ("Xi’an", "xian"), ("Xi'an", "xian"),
      ("Xiʼan", "xian"), ("Hawaiʻi", "hawaii"), ("ΑΣ′Α", "ασα"), ("ΑΣ'Α", "ασα"), ("'", ""),
      ("a\u{200B}b\u{AD}c\u{200F}d\u{FEFF}e\u{FE0F}", "abcde"), ("서울", "서울"),
      ("\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}", "서울"),
    ])
  func details(text: String, expected: String) {
    #expect(Array((PlaceText.normalize(text) ?? "").utf8) == Array(expected.utf8))
  }

  @Test("composed and decomposed strings of three scripts give the same key")
  func normalForms() {
    var generator = SeededRandom(seed: 1)
    let ranges: [ClosedRange<UInt32>] = [
      0x20...0x24F, 0x1E00...0x1EFF, 0x370...0x3FF, 0x1F00...0x1FFF, 0x400...0x52F, 0x300...0x345,
    ]
    for _ in 0..<5_000 {
      let text = generator.text(of: ranges)
      let key = PlaceText.normalize(text)
      #expect(PlaceText.normalize(text.decomposedStringWithCanonicalMapping) == key)
      #expect(PlaceText.normalize(text.precomposedStringWithCanonicalMapping) == key)
    }
  }

  @Test("normalization is idempotent, and leaves no control character")
  func idempotence() throws {
    var generator = SeededRandom(seed: 2)
    let ranges: [ClosedRange<UInt32>] = [
      0...0x7F, 0...0x24F, 0x300...0x36F, 0x370...0x52F, 0x590...0xFFF, 0x1C80...0x2FFF, 0x3040...0x30FF,
      0xA640...0xABFF, 0xAC00...0xFFFF, 0x1_0000...0x1_FFFF, 0...0x10_FFFF,
    ]
    for _ in 0..<20_000 {
      let text = generator.text(of: ranges)
      guard let once = PlaceText.normalize(text) else { continue }
      let twice = try #require(PlaceText.normalize(once))
      let scalars = text.unicodeScalars.map { String($0.value, radix: 16) }
      #expect(Array(twice.utf8) == Array(once.utf8), "\(scalars)")
      #expect(!once.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }

  @Test("long strings take little time, also with only combining marks")
  func longText() {
    let marks = String(repeating: "\u{301}\u{327}", count: 100_000)
    #expect(PlaceText.normalize("a" + marks + "b") == "ab")
    #expect(PlaceText.normalize("た" + marks)?.unicodeScalars.count == 200_001)
    let long = String(repeating: "Ágnes, ", count: 100_000)
    #expect(PlaceText.normalize(long)?.utf8.count == 600_000 - 1)
  }

  @Test("every entity id of the vectors", arguments: try vectors("entity_id"))
  func entityID(example: JSONValue) throws {
    let parts = try #require(example.arrayValue).compactMap(\.stringValue)
    #expect(EntityID.make(section: parts[0], label: parts[1]) == parts[2])
  }

  @Test("every section of an entity id of the vectors", arguments: try vectors("section_of"))
  func sectionOf(example: JSONValue) throws {
    let pair = try #require(example.arrayValue)
    #expect(EntityID.section(of: try #require(pair[0].stringValue)) == pair[1].stringValue)
  }

  @Test("a combining mark after the colon does not hide it")
  func sectionBeforeMark() {
    #expect(EntityID.section(of: "a:\u{301}b") == "a")
    #expect(EntityID.section(of: "") == nil)
  }

  @Test("every location of the vectors has the expected keys", arguments: try vectors("locations"))
  func locations(example: JSONValue) throws {
    let location = try Location(json: try #require(example["location"]))
    #expect(location.mostSpecificLevel?.name == example["most_specific"]?.stringValue)
    for (name, key) in try #require(example["keys"]?.objectValue) {
      let level = try #require(Level(name: name))
      #expect(location.key(level)?.text == key.stringValue)
    }
    #expect(try Location(json: location.json) == location)
    #expect(location.keys.map(\.level) == Level.mostSpecificFirst.filter { location.key($0) != nil })
  }

  @Test("every invalid location of the vectors is rejected", arguments: try vectors("invalid_locations"))
  func invalidLocations(json: JSONValue) throws {
    let error = try #require(throws: JSONError.self) { try Location(json: json) }
    #expect(error.pointer != nil)
  }

  @Test(
    "an invalid location is rejected, with a pointer to the member",
    arguments: [
      (["latitude": -90.0001, "longitude": 0], "/latitude"),
      (["latitude": 0, "longitude": 180.5], "/longitude"),
      (["longitude": 1], "/latitude"), (["latitude": 1], "/longitude"),
      (["latitude": "1", "longitude": 1], "/latitude"), (["latitude": true, "longitude": 1], "/latitude"),
      (["latitude": .double(.nan), "longitude": 1], "/latitude"),
      (["latitude": 1, "longitude": .double(.infinity)], "/longitude"),
      (["country_code": "fr", "locality": ["x"]], "/locality"), (["country_name": "France"], ""),
      (["country_code": " , "], ""), ("fr", ""), ([], ""), (.null, ""),
    ] as [(JSONValue, String)])
  func refused(json: JSONValue, pointer: String) throws {
    let error = try #require(throws: JSONError.self) { try Location(json: json) }
    #expect(error.pointer == pointer)
  }

  @Test("null counts as absent, unknown members are ignored, whole degrees may be integers")
  func forgiving() throws {
    let location = try Location(json: [
      "latitude": 1, "longitude": -180, "country_code": .null, "accuracy": 5, "admin_area": .null,
    ])
    #expect(location == (try Location(latitude: 1, longitude: -180)))
    #expect(location.keys.map(\.text) == ["1.0_180.0"])
    #expect(location.json == ["latitude": 1.0, "longitude": -180.0])
  }

  @Test(
    "coordinates are rounded to four decimals and written in the shortest form",
    arguments: [
      (31.23045678, "31.2305"), (-0.0, "0.0"), (-0.00005, "-0.0001"), (-0.00004999, "0.0"),
      (0.00005, "0.0001"),
      (89.99996, "90.0"), (90, "90.0"), (0.03125, "0.0313"), (1.00005, "1.0001"), (1.00015, "1.0002"),
      (2.00005, "2.0"), (12.00015, "12.0001"),
      (12.5, "12.5"), (12.0204, "12.0204"), (.leastNonzeroMagnitude, "0.0"), (1e-7, "0.0"),
      (9.0001, "9.0001"),
    ])
  func coordinates(degrees: Double, text: String) throws {
    #expect(try Location(latitude: degrees, longitude: 0).key(.coordinate)?.text == text + "_0.0")
  }

  @Test(
    "a position has one key: on the antimeridian, and at the poles",
    arguments: [
      (0, -180, "0.0_180.0"), (0, 180, "0.0_180.0"), (1, -179.99996, "1.0_180.0"),
      (1, -179.9999, "1.0_-179.9999"),
      (90, 77, "90.0_0.0"), (-90, -180, "-90.0_0.0"), (89.99996, 5, "90.0_0.0"), (89.9999, 5, "89.9999_5.0"),
    ])
  func edges(latitude: Double, longitude: Double, text: String) throws {
    #expect(try Location(latitude: latitude, longitude: longitude).key(.coordinate)?.text == text)
  }

  @Test("the table of letters has every small letter with a stroke, and no letter that decomposes")
  func strokes() throws {
    for value in UInt32(0x80)..<0xB000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let (base, second) = LetterTable.base(of: Int32(value))
      let name = scalar.properties.name ?? ""
      guard name.hasPrefix("LATIN SMALL LETTER "), name.contains(" WITH "), name.hasSuffix("STROKE") else {
        if base != Int32(value), second == 0 { #expect(["ı", "ꝅ"].contains(Character(scalar)), "\(name)") }
        continue
      }
      let letter = name.dropFirst("LATIN SMALL LETTER ".count).prefix { $0 != " " }
      guard letter.count == 1, !name.contains(" AND ") || name.contains("STROKE AND") else { continue }
      #expect(base == Int32(letter.lowercased().unicodeScalars.first?.value ?? 0), "\(name)")
      #expect(second == 0)
    }
  }

  @Test("a coordinate's text is the nearest number of four decimals")
  func nearest() throws {
    var generator = SeededRandom(seed: 3)
    for _ in 0..<5_000 {
      let degrees = Double.random(in: -90...90, using: &generator)
      let key = try #require(try Location(latitude: degrees, longitude: 0).key(.coordinate)?.text)
      let number = try #require(Double(key.dropLast("_0.0".count)))
      #expect((number - degrees).magnitude <= 0.000_050_000_01)
      #expect(try Location(latitude: number, longitude: 0).key(.coordinate)?.text == key)
    }
  }

  @Test("every scope of the vectors", arguments: try vectors("level_of_scope"))
  func scopes(example: JSONValue) throws {
    let pair = try #require(example.arrayValue)
    #expect(Scope(name: try #require(pair[0].stringValue))?.name == pair[1].stringValue)
  }

  @Test("levels and scopes share their numbers, and order from the country to the coordinate")
  func levels() {
    #expect(Level.allCases == Level.allCases.sorted())
    #expect(Level.mostSpecificFirst.first == .coordinate)
    for level in Level.allCases {
      #expect(Scope(level).rawValue == level.rawValue)
      #expect(Scope(level).level == level)
      #expect(Level(name: level.name.uppercased()) == level)
    }
    #expect(Scope.global.level == nil)
    #expect(Level(name: "global") == nil)
    #expect(Scope(name: "lo\u{212A}ality") == nil)
  }

  @Test(
    "places with the same text have different identities",
    arguments: try vectors("distinct_places_same_text"))
  func identities(example: JSONValue) throws {
    let parts = try #require(example.arrayValue)
    let first = try #require(try Location(json: parts[0]).keys.first)
    let second = try #require(try Location(json: parts[1]).keys.first)
    #expect(first.text == parts[2].stringValue)
    #expect(second.text == parts[2].stringValue)
    #expect(first.identity != second.identity)
    #expect(first != second)
  }

  @Test("identities of different levels and components differ")
  func identity() throws {
    let location = try Location(locality: "a\u{1F}b", countryCode: "X")
    #expect(location.key(.locality)?.identity == "locality\u{1F}x\u{1F}\u{1F}a_b")
    #expect(location.key(.country)?.identity == "country\u{1F}x")
    let area = try Location(adminArea: "b", countryCode: "a")
    let town = try Location(locality: "b", countryCode: "a")
    #expect(area.key(.adminarea) != town.key(.locality))
  }
}

extension SeededRandom {
  fileprivate mutating func text(of ranges: [ClosedRange<UInt32>]) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...10, using: &self) {
      guard let range = ranges.randomElement(using: &self) else { break }
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) { text.append(scalar) }
    }
    return String(text)
  }
}
