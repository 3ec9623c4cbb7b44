import Foundation
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Dates of ISO 8601") struct FormatDateTests {
  static let exact: [(String, Int64)] = [
    ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1000), ("2024-01-01T00:00:00Z", 1_704_067_200_000),
    ("2024-02-29T12:30:15Z", 1_709_209_815_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
    ("1900-03-01T00:00:00Z", -2_203_891_200_000), ("1600-02-29T00:00:00Z", -11_670_998_400_000),
    ("1582-10-15T00:00:00Z", -12_219_292_800_000), ("2038-01-19T03:14:08Z", 2_147_483_648_000),
    ("2100-02-28T23:59:59Z", 4_107_542_399_000), ("2100-03-01T00:00:00Z", 4_107_542_400_000),
    ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
  ]

  @Test("Parsing and formatting", arguments: exact) func bothWays(_ text: String, _ time: Int64) {
    #expect(ISODate.milliseconds(text) == time)
    #expect(ISODate.string(milliseconds: time) == text)
  }

  @Test(
    "Other forms of ISO 8601",
    arguments: [
      ("1970-01-01t00:00:00z", 0), ("1970-01-01 00:00:01Z", 1000), ("1970-01-01T00:00:00.5Z", 500),
      ("1970-01-01T00:00:00.0019Z", 1), ("1970-01-01T00:00:00,25Z", 250), ("1969-12-31T23:59:59.999Z", -1),
      ("1970-01-01T02:00:00+02:00", 0), ("1969-12-31T18:30:00-0530", 0), ("1970-01-01T00:00:00-00:00", 0),
      ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("1970-01-01T00:00:00.123456789012345678Z", 123),
    ] as [(String, Int64)])
  func otherForms(_ text: String, _ time: Int64) { #expect(ISODate.milliseconds(text) == time) }

  @Test(
    "Strings that are not dates",
    arguments: [
      "", "now", "2024", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
      "2024-01-00T00:00:00Z", "2024-01-32T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
      "2024-02-30T00:00:00Z", "2024-04-31T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
      "2024-01-01T00:00:61Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00ZZ", "2024-01-01T00:00:00+25:00",
      "2024-01-01T00:00:00+01:60", "2024-01-01T00:00:00+1", "24-01-01T00:00:00Z", "-024-01-01T00:00:00Z",
      "2024-1-01T00:00:00Z", "2024/01/01T00:00:00Z", " 2024-01-01T00:00:00Z", "２024-01-01T00:00:00Z",
      "2024-01-01T00:00:00.\(String(repeating: "9", count: 100))Z",
    ])
  func noDates(_ text: String) { #expect(ISODate.milliseconds(text) == nil) }

  @Test("The results equal Foundation's") func foundation() throws {
    var generator = SeededRandom(seed: 7)
    // From 1600 on: before, Foundation counts by the Julian calendar.
    let lowest: Int64 = -11_676_096_000
    for _ in 0..<5000 {
      let seconds = lowest + Int64(generator.below(265_000_000_000))
      let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
      #expect(ISODate.string(milliseconds: seconds * 1000) == text)
      #expect(ISODate.milliseconds(text) == seconds * 1000)
    }
  }

  @Test("Every day of 800 years follows the one before") func days() {
    var before = ""
    for day in Int64(-146_097)...146_097 {
      let text = ISODate.string(milliseconds: day * 86_400_000)
      if ISODate.milliseconds(text) != day * 86_400_000 || text <= before {
        Issue.record("day \(day) is \(text)")
        return
      }
      before = text
    }
  }

  @Test("Times out of range are clamped, fractions are rounded down")
  func nearest() {
    #expect(ISODate.string(milliseconds: .min) == "0000-01-01T00:00:00Z")
    #expect(ISODate.string(milliseconds: .max) == "9999-12-31T23:59:59Z")
    #expect(ISODate.string(milliseconds: -1) == "1969-12-31T23:59:59Z")
    #expect(ISODate.string(milliseconds: 999) == "1970-01-01T00:00:00Z")
  }
}
