import Foundation
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Shards survive a round trip") struct FormatRoundTripTests {
  @Test("Any photo is read as it was written", arguments: 0..<20) func photos(_ seed: Int) throws {
    var generator = SeededRandom(seed: UInt64(seed))
    for _ in 0..<300 {
      let photo = FormatFixture.photo(&generator)
      try photo.validate()
      let line = FormatFixture.line(photo)
      let outcome = try FormatFixture.open(line)
      #expect(outcome.photos == [photo])
      #expect(outcome.rejected.isEmpty)
      #expect(outcome.isWritten, "\(line)")
    }
  }

  @Test("A name is quoted wherever a character needs it, and an MD5 has all digits")
  func quotes() throws {
    for character in [",", "\"", "\n", "\r", "-", "!", "\u{E9}"] {
      for length in 0..<20 {
        for position in 0...length {
          var name = Array(repeating: "x", count: length)
          name.insert(character, at: position)
          let md5 = MD5(high: UInt64(position) << 52 | 0x0FED_CBA9_8765, low: 0x0123_4567_89AB_CDEF)
          let photo = Photo(md5: md5, filename: name.joined(), size: .max, photodate: .min, modified: 0)
          let needsQuotes = [",", "\"", "\n", "\r"].contains(character)
          let field = photo.filename.replacing("\"", with: "\"\"")
          let digits = String(format: "0%02x0", position) + "0fedcba98765" + "0123456789abcdef"
          #expect(
            FormatFixture.line(photo)
              == "\(digits),\(needsQuotes ? "\"\(field)\"" : field),9223372036854775807,-9223372036854775808,0,,,"
          )
        }
      }
    }
  }

  @Test("A shard does not depend on the order of its rows", arguments: 0..<20) func order(_ seed: Int)
    throws
  {
    var generator = SeededRandom(seed: UInt64(1000 + seed))
    let photos = (0..<200).map { _ in FormatFixture.photo(&generator) }.sorted { $0.md5 < $1.md5 }
    var writer = ShardWriter()
    for photo in photos { writer.append(photo) }
    let straight = try FormatFixture.open(writer.bytes)
    #expect(straight.photos == photos)
    #expect(straight.isWritten)
    var shuffled = ShardWriter()
    for photo in photos.shuffled(using: &generator) { shuffled.append(photo) }
    let outcome = try FormatFixture.open(shuffled.bytes)
    #expect(outcome.written == writer.bytes)
    #expect(outcome.rejected.isEmpty)
  }

  @Test("Rejected lines stay, in the order of their bytes", arguments: 0..<50) func rejected(_ seed: Int)
    throws
  {
    var generator = SeededRandom(seed: UInt64(2000 + seed))
    var lines = (0..<40).map { _ in
      var photo = FormatFixture.photo(&generator)
      photo.filename = "IMG_\(generator.below(1000)).jpg"
      photo.applePhotoID = nil
      return FormatFixture.line(photo)
    }
    for number in 0..<20 {
      let row = generator.pick(lines)
      let wrong = [
        "", "#", "~", String(row.prefix(generator.below(31))), row.uppercased() + ",,", "f" + row.dropFirst(),
        row + ",", row.replacing(",", with: ";"), row.replacing(",IMG", with: ",A,IMG"),
      ]
      lines.append(generator.pick(wrong) + "\(number)")
    }
    let outcome = try FormatFixture.open(lines.shuffled(using: &generator).joined(separator: "\r\n"))
    #expect(outcome.photos.count == 40)
    #expect(outcome.rejected.count == 20)
    #expect(outcome.text == lines.sortedByBytes.joined(separator: "\n"))
    let again = try FormatFixture.open(outcome.written)
    #expect(again.isWritten)
    #expect(again.rejected.count == 20)
  }

  @Test("Values that a row cannot hold are refused before writing") func validation() throws {
    let md5 = try #require(MD5(FormatFixture.md5(1)))
    #expect(throws: (any Error).self) {
      try Photo(md5: md5, filename: "a", size: -1, photodate: 0, modified: 0).validate()
    }
    #expect(throws: (any Error).self) {
      try Photo(md5: md5, filename: "a", size: 1, photodate: 0, modified: 0, width: -1).validate()
    }
    #expect(throws: (any Error).self) {
      try Photo(md5: md5, filename: "a", size: 1, photodate: 0, modified: 0, height: -1).validate()
    }
    let photo = Photo(md5: md5, filename: "e\u{301}", size: 1, photodate: 0, modified: 0, applePhotoID: "")
    try photo.validate()
    #expect(photo.applePhotoID == nil)
    var other = photo
    other.filename = "\u{E9}"
    #expect(photo != other, "names that look the same have other bytes")
  }
}
