import SatchelJSON
import Testing

@testable import SatchelPhotos

@Suite("The examples of the specification: shards") struct FormatVectorTests {
  static let vectors = (try? FormatFixture.read("vectors/csv.json")) ?? .null
  static let exports = vectors["export"]?.arrayValue ?? []
  static let imports = vectors["import"]?.arrayValue ?? []

  @Test("There are four and three of them") func count() {
    #expect(Self.exports.count == 4)
    #expect(Self.imports.count == 3)
  }

  @Test("A photo is written as its line, and its line is read as the photo", arguments: exports)
  func writing(_ example: JSONValue) throws {
    let object = try #require(example["photo"])
    let photo = Photo(
      md5: try #require(MD5(object["md5"]?.stringValue ?? "")),
      filename: try #require(object["filename"]?.stringValue), size: try #require(object["size"]?.intValue),
      photodate: try #require(object["photodate"]?.intValue),
      modified: try #require(object["modified"]?.intValue), width: object["width"]?.intValue,
      height: object["height"]?.intValue, applePhotoID: object["apple_photo_id"]?.stringValue)
    let line = try #require(example["line"]?.stringValue)
    #expect(FormatFixture.line(photo) == line)
    let outcome = try FormatFixture.open(line)
    #expect(outcome.photos == [photo])
    #expect(outcome.rejected.isEmpty)
    #expect(outcome.isWritten)
  }

  @Test("All photos make one shard") func shard() throws {
    let lines = Self.exports.compactMap { $0["line"]?.stringValue }
    let outcome = try FormatFixture.open(lines.reversed().joined(separator: "\n"))
    #expect(outcome.text == lines.joined(separator: "\n"))
  }

  @Test("A file has the expected photos and rejected lines", arguments: imports)
  func reading(_ example: JSONValue) throws {
    let text = try #require(example["text"]?.stringValue)
    let shard = try #require(Shard.Index(digit: example["shard"]?.stringValue ?? ""))
    let outcome = try FormatFixture.open(text, shard: shard)
    #expect(outcome.photos.count == Int(try #require(example["photos"]?.intValue)))
    #expect(outcome.lines == (example["rejected"]?.arrayValue ?? []).compactMap { $0.intValue.map(Int.init) })
    if let first = example["first"] {
      #expect(outcome.photos.first?.md5.description == first["md5"]?.stringValue)
      #expect(outcome.photos.first?.photodate == first["photodate"]?.intValue)
      #expect(outcome.photos.first?.modified == first["modified"]?.intValue)
    }
    for row in outcome.rejected {
      let line = text.split(separator: "\n", omittingEmptySubsequences: false)[row.line - 1]
      #expect(row.raw == Array(line.utf8))
    }
    #expect(try FormatFixture.open(outcome.written, shard: shard).written == outcome.written)
  }

  @Test("The empty shard's checksum") func emptyChecksum() {
    #expect(Shard.checksum([]) == Self.vectors["empty_shard_sha256"]?.stringValue)
    #expect(Shard.checksum([]) == Shard.emptyChecksum)
    #expect(
      Shard.checksum(Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
