import Testing

@testable import SatchelPhotos

@Suite("Reading EXIF")
struct ScanExifTests {
  @Test("A camera's usual tags, in both byte orders", arguments: [false, true])
  func usual(isBigEndian: Bool) throws {
    var exif = ScanExif.usual()
    exif.isBigEndian = isBigEndian
    let facts = try ScanFixture.facts(exif)
    #expect(facts.width == 48 && facts.height == 32)
    #expect(facts.date == 1_626_287_405)
    #expect(facts.cameraMake == "Zenit" && facts.cameraModel == "Horizon 202")
    #expect(facts.orientation == 6 && facts.iso == 400)
    #expect(facts.aperture == 2.8 && facts.shutterSpeed == "1/250" && facts.focalLength == 28)
    #expect(facts.latitude == -(33 + 51.0 / 60 + 35.4 / 3600) && facts.longitude == 151.2)
    #expect(facts.remark == nil)
  }

  @Test("A date is in its own zone, else in the given one")
  func zones() throws {
    var exif = ScanExif.usual()
    #expect(try ScanFixture.facts(exif, zone: 7200).date == 1_626_287_405 - 7200)
    exif.add(0x9011, .text("+02:00\0"))
    #expect(try ScanFixture.facts(exif, zone: -3600).date == 1_626_287_405 - 7200)
    exif = .usual()
    exif.add(0x9011, .text("   :  \0"))
    #expect(try ScanFixture.facts(exif, zone: 3600).date == 1_626_287_405 - 3600)
  }

  @Test(
    "The dates of cameras",
    arguments: [
      ("2021:07:14 18:30:05", 1_626_287_405), ("2021-07-14 18:30:05", 1_626_287_405),
      ("2021:07:14T18:30:05Z", 1_626_287_405), ("2021:07:14 18:30:05.99", 1_626_287_405),
      ("2021:07:14 18:30", 1_626_287_400), ("2021:07:14 18:30:05+01:00", 1_626_283_805),
      ("1969:12:31 23:59:59", -1), ("0000:00:00 00:00:00", nil), ("    :  :     :  :  ", nil),
      ("2021:02:29 10:00:00", nil), ("2021:07:14", 1_626_220_800), ("2021: 7:14  8:30:05", 1_626_251_405),
      ("2021:07:14 18:30:05 +0100", 1_626_283_805), ("2021:07:14 18:30:60", 1_626_287_460),
      ("yesterday afternoon", nil), ("", nil),
      ("2021:07:14 25:00:00", nil), ("1904:01:01 00:00:00", -2_082_844_800),
      ("0001:01:01 00:00:00", nil),
    ] as [(String, Int64?)])
  func dates(text: String, seconds: Int64?) {
    #expect(ImageDate(text)?.seconds(zone: .utc) == seconds)
  }

  @Test("The date is the original time, else the time of digitising, else of writing")
  func otherDates() throws {
    var exif = ScanExif()
    #expect(try ScanFixture.facts(exif).dateSource == nil)
    exif.add(0x0132, .text("2003:03:03 03:03:03\0"))
    #expect(try ScanFixture.facts(exif).date == 1_046_660_583)
    #expect(try ScanFixture.facts(exif).dateSource == .written)
    exif.add(0x9004, .text("2002:02:02 02:02:02\0"))
    #expect(try ScanFixture.facts(exif).date == 1_012_615_322)
    exif.add(0x9003, .text("0000:00:00 00:00:00\0"))
    #expect(try ScanFixture.facts(exif).date == 1_012_615_322)
    #expect(try ScanFixture.facts(exif).dateSource == .digitized)
    #expect(try ScanFixture.facts(.usual()).dateSource == .original)
  }

  @Test("Strings end at the first NUL, or with the value, and are always UTF-8")
  func texts() throws {
    func make(_ value: ScanExif.Value) throws -> String? {
      var exif = ScanExif()
      exif.add(0x010F, value)
      return try ScanFixture.facts(exif).cameraMake
    }
    #expect(try make(.text("no NUL here")) == "no NUL here")
    #expect(try make(.text("first\0second\0")) == "first")
    #expect(try make(.text("   \0")) == nil)
    #expect(try make(.text("\0\0\0\0\0\0")) == nil)
    #expect(try make(.bytes([0x43, 0x61, 0x6E, 0xFF, 0xFE, 0x6F, 0x6E])) == "Can\u{FFFD}\u{FFFD}on")
    #expect(try make(.text(String(repeating: "x", count: 60_000))) == String(repeating: "x", count: 255))
    #expect(try make(.short([1, 2, 3])) == nil)
  }

  @Test(
    "Impossible numbers are ignored",
    arguments: [
      (0x829D, .rational([(28, 0)])), (0x829D, .rational([(0, 0)])), (0x829D, .rational([(0, 1)])),
      (0x829D, .text("2.8\0")), (0x829D, .rational([])), (0x829A, .rational([(.max, 1)])),
      (0x829A, .rational([(1, .max)])), (0x920A, .rational([(.max, 1)])), (0x8827, .short([0])),
      (0x8827, .long([.max])), (0x0112, .short([9])), (0x0112, .short([0])), (0x0112, .text("6")),
    ] as [(UInt16, ScanExif.Value)])
  func badNumbers(tag: UInt16, value: ScanExif.Value) throws {
    var exif = ScanExif()
    exif.add(tag, value)
    let facts = try ScanFixture.facts(exif)
    #expect(facts.aperture == nil && facts.shutterSpeed == nil && facts.focalLength == nil)
    #expect(facts.iso == nil && facts.orientation == nil)
    #expect(facts.width == 48)
  }

  @Test(
    "Exposure times in the notation of cameras",
    arguments: [
      ((1, 200), "1/200"), ((10, 2000), "1/200"), ((16_666, 1_000_000), "1/60"), ((1, 4), "1/4"),
      ((3, 10), "0.3"), ((10, 25), "0.4"), ((5, 2), "2.5"), ((30, 1), "30"), ((1, 32_000), "1/32000"),
      ((1, 100_000_000), nil),
    ] as [((UInt32, UInt32), String?)])
  func shutterSpeeds(value: (UInt32, UInt32), text: String?) throws {
    var exif = ScanExif()
    exif.add(0x829A, .rational([value]))
    #expect(try ScanFixture.facts(exif).shutterSpeed == text)
  }

  @Test("Numbers of other widths than the usual ones are read; a sensitivity too high for two bytes too")
  func otherWidths() throws {
    var exif = ScanExif()
    exif.add(0x0112, .long([3]))
    exif.add(0x8827, .short([65_535]))
    exif.add(0x8833, .long([102_400]))
    let facts = try ScanFixture.facts(exif)
    #expect(facts.orientation == 3 && facts.iso == 102_400)
  }

  @Test(
    "A position outside of the earth is ignored",
    arguments: [
      ("N", [(91, 1), (0, 1), (0, 1)]), ("N", [(33, 1), (61, 1), (0, 1)]), ("N", [(33, 1), (0, 1), (61, 1)]),
      ("X", [(33, 1), (0, 1), (0, 1)]), ("", [(33, 1), (0, 1), (0, 1)]), ("N", []),
      ("N", [(33, 0), (0, 1), (0, 1)]), ("N", [(0, 0), (0, 0), (0, 0)]), ("N", [(90, 1), (0, 1), (1, 1)]),
    ] as [(String, [(UInt32, UInt32)])])
  func badPositions(half: String, degrees: [(UInt32, UInt32)]) throws {
    var exif = ScanExif.usual()
    exif.position = []
    if !half.isEmpty { exif.add(1, .text(half + "\0")) }
    exif.add(2, .rational(degrees))
    exif.add(3, .text("E\0"))
    exif.add(4, .rational([(1, 1), (0, 1), (0, 1)]))
    let facts = try ScanFixture.facts(exif)
    #expect(facts.latitude == nil && facts.longitude == nil)
    #expect(facts.cameraMake == "Zenit")
  }

  @Test("Minutes with a fraction, and seconds that were left open")
  func openSeconds() throws {
    var exif = ScanExif()
    exif.add(1, .text("n\0"))
    exif.add(2, .rational([(47, 1), (225, 10), (0, 0)]))
    exif.add(3, .text("W\0"))
    exif.add(4, .rational([(180, 1), (0, 1), (0, 1)]))
    let facts = try ScanFixture.facts(exif)
    #expect(facts.latitude == 47.375 && facts.longitude == -180)
  }
}
