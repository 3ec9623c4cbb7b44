import Foundation
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Time zones of dates without one")
struct PhotoTimeZoneTests {
  /// The time zone database is a package of the system, which need not be installed.
  static let isInstalled = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

  @Test(
    "The offsets of zones are those of Foundation, in the past and in the years to come",
    .enabled(if: isInstalled),
    arguments: [
      "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Asia/Kolkata", "Australia/Lord_Howe",
      "America/Sao_Paulo",
      "Pacific/Auckland", "Africa/Casablanca", "Europe/Dublin", "UTC",
    ])
  func offsets(name: String) throws {
    let zone = try PhotoTimeZone(name)
    let known = TimeZone(identifier: name)
    let expected = try #require(known)
    var random = SeededRandom(seed: 4)
    // 1970 to 2060: up to years after the last change that the file lists.
    for _ in 0..<2000 {
      let moment = Int64(random.below(2_840_140_800))
      let offset = expected.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
      #expect(zone.offset(at: moment) == Int64(offset), "\(moment)")
    }
  }

  @Test("Times that are there twice, or not at all, when clocks are set", .enabled(if: isInstalled))
  func changes() throws {
    let zone = try PhotoTimeZone("Europe/Berlin")
    func offset(_ text: String) -> Int64? { ImageDate(text)?.localOffset(zone: zone) }
    #expect(offset("2024:03:31 01:59:59") == 3600 && offset("2024:03:31 03:00:00") == 7200)
    #expect(offset("2024:03:31 02:30:00") == 3600)
    #expect(offset("2024:10:27 02:30:00") == 7200 && offset("2024:10:27 03:00:00") == 3600)
    // By the rule at the end of the file.
    #expect(offset("2044:07:01 12:00:00") == 7200 && offset("2044:12:01 12:00:00") == 3600)
    #expect(ImageDate("2024:07:01 12:00:00")?.seconds(zone: zone) == 1_719_828_000)
  }

  @Test("Offsets, and texts that are no zone")
  func texts() throws {
    #expect(try PhotoTimeZone("+02:00") == PhotoTimeZone(offset: 7200))
    #expect(try PhotoTimeZone("-0330") == PhotoTimeZone(offset: -12_600) && PhotoTimeZone("Z") == .utc)
    for text in [
      "", "1", "+99:00", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "a\0b", "Europe", "ü",
    ] {
      #expect(throws: (any Error).self, "\(text)") { try PhotoTimeZone(text) }
    }
  }

  @Test("A damaged database does not trap", .enabled(if: isInstalled))
  func damaged() throws {
    let whole = try Array(Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin")))
    var random = SeededRandom(seed: 9)
    for _ in 0..<5000 {
      var bytes = whole
      for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      if random.once(in: 4) { bytes = Array(bytes.prefix(random.below(bytes.count))) }
      guard let zone = PhotoTimeZone(database: bytes) else { continue }
      _ = ImageDate("2024:03:31 02:30:00")?.seconds(zone: zone)
      _ = ImageDate("2060:03:31 02:30:00")?.seconds(zone: zone)
    }
  }
}
