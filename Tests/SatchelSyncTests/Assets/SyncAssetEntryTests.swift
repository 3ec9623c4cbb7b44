import SatchelAssets
import SatchelCore
import SatchelJSON
import Testing

@testable import SatchelSync

/// Values of assets, for tests.
enum AssetValues {
  static let log = "0123456789abcdef"
  static let user = SyncTestDevice.user

  static func object(_ digit: Character = "a", log: String = log, fence: Int64 = 5) -> AssetObject {
    let digits = String(fence, radix: 16)
    let padded = String(repeating: "0", count: 16 - digits.count) + digits
    return AssetObject("\(log).\(padded)/\(String(repeating: digit, count: 32))")!
  }

  static func location(_ digit: Character = "a", of: Int64 = 1016, offset: Int64 = 0)
    -> SyncAssetEntry.Location
  {
    SyncAssetEntry.Location(object: object(digit), offset: offset, of: of, key: AssetSealTests.key)
  }

  static func entry(_ digit: Character? = "a", suspect: Bool = false, unused: Int64? = nil) -> SyncAssetEntry
  {
    var entry = SyncAssetEntry(size: 1000, location: digit.map { location($0) })
    (entry.isSuspect, entry.unused) = (suspect, unused)
    return entry
  }

  static func reservation(_ digit: Character) -> SyncAssetEntry.Reservation {
    SyncAssetEntry.Reservation(object: object(digit), key: AssetSealTests.key, writer: "w\"1")
  }
}

@Suite("Entries of assets") struct SyncAssetEntryTests {
  static let full: SyncAssetEntry = {
    var entry = SyncAssetEntry(size: 70_000, location: AssetValues.location("a", of: 200_000, offset: 1016))
    for digit in "bcd" { entry.reserve(AssetValues.reservation(digit)) }
    (entry.isSuspect, entry.unused) = (true, 77)
    entry.others = Array(",\"more\":{\"a\":[1]}".utf8)
    return entry
  }()

  @Test(
    "are read as they were written",
    arguments: [full, SyncAssetEntry(size: 0), AssetValues.entry(), AssetValues.entry(nil)])
  func roundTrip(_ entry: SyncAssetEntry) throws {
    let bytes = entry.serialized()
    #expect(throws: Never.self) { try JSONValue(parsing: bytes) }
    #expect(try SyncAssetEntry(parsing: bytes) == entry)
  }

  @Test("keep the newest three reservations, and lose them with an object") func reservations() throws {
    var entry = AssetValues.entry(nil)
    for digit in "bcde" { entry.reserve(AssetValues.reservation(digit)) }
    #expect(entry.reservations.map { $0.object.name.first } == ["c", "d", "e"])
    #expect(entry.objects.count == 3)
    (entry.isSuspect, entry.unused) = (true, 4)
    let located = entry.located(at: AssetValues.location(), size: 1000)
    #expect(located == AssetValues.entry())
  }

  static let name = "0123456789abcdef.0000000000000005/" + String(repeating: "a", count: 32)

  /// A part of the full entry, and what a stranger writes instead of it.
  static let damages: [(String, String)] = [
    ("\"size\":70000", "\"size\":-1"), ("\"size\":70000", "\"size\":549755813889"),
    ("\"size\":70000", "\"size\":70000.5"), ("\"size\":70000", "\"size\":\"70000\""), ("\"size\":70000,", ""),
    ("\"offset\":1016", "\"offset\":-1"), ("\"offset\":1016", "\"offset\":129969"),
    ("\"length\":70032", "\"length\":70031"), ("\"length\":70032", "\"length\":9223372036854775807"),
    ("\"of\":200000", "\"of\":70031"), ("\"of\":200000", "\"of\":9223372036854775807"),
    ("\"key\":\"00", "\"key\":\"0"), ("\"key\":\"00", "\"key\":\"0G"),
    ("\"key\":\"000102", "\"key\":\"00010A"),
    (name, "../../" + name), (name, name.uppercased()), (name, String(name.dropLast())), (name, name + "/"),
    (name, name.replacing(".0000000000000005", with: ".ffffffffffffffff")),
    (name, name.replacing(".0000000000000005", with: ".0010000000000001")),
    (name, name.replacing("/", with: "\\u0000")),
    ("\"suspect\":true", "\"suspect\":1"), ("\"unused\":77", "\"unused\":4503599627370497"),
    ("\"unused\":77", "\"unused\":null"), ("\"writer\":\"w\\\"1\"", "\"writer\":\"\""),
    ("\"next\":[", "\"next\":[{},"), ("\"next\":[", "\"next\":[1,"), ("\"next\":[", "\"nexT\":[[],"),
    (String(repeating: "b", count: 32), String(repeating: "a", count: 32)), ("{\"size\"", "[\"size\""),
  ]

  @Test("of a stranger are refused, and the message names the member", arguments: damages)
  func damage(_ old: String, _ new: String) throws {
    let bytes = Self.full.serialized().replacing(old, new)
    #expect(bytes != Self.full.serialized(), "\(old) is not in the entry")
    do {
      let entry = try SyncAssetEntry(parsing: bytes)
      #expect(new.contains("nexT"), "\(entry)")
    } catch let error as SatchelError {
      #expect(error.code == .damaged)
      #expect(error.message.hasPrefix("asset"))
    }
  }

  @Test("cut anywhere are refused") func cut() throws {
    let bytes = Self.full.serialized()
    for count in 0..<bytes.count {
      #expect(throws: SatchelError.self) { try SyncAssetEntry(parsing: Array(bytes.prefix(count))) }
    }
  }

  @Test("names of objects have one form, in the order of their keys") func names() throws {
    let object = AssetValues.object("e", fence: 0x1f)
    #expect(object.description == "0123456789abcdef.000000000000001f/" + String(repeating: "e", count: 32))
    #expect(try object.key(AssetValues.user).text == "assets/somebody/\(object)")
    #expect(AssetObject(object.description) == object)
    let new = (0..<50).map { AssetObject(log: "fedcba9876543210", fence: Int64($0) << 40) }
    #expect(new.allSatisfy { AssetObject($0.description) == $0 })
    let all = (new + [object, AssetValues.object("0", fence: 1 << 52)]).sorted()
    #expect(all.map(\.description) == all.map(\.description).sorted())
  }
}
