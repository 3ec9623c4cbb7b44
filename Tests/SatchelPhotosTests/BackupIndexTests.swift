import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("The index of a device's files")
struct BackupIndexTests {
  private func row(_ path: String, _ number: UInt8, _ kind: FileKind = .photo) throws -> BackupIndex.Row {
    let md5 = try #require(MD5(bytes: [number] + [UInt8](repeating: 0, count: 15)))
    return BackupIndex.Row(
      path: path, md5: md5, size: Int64(number), modified: -5, kind: kind, photo: kind == .photo ? nil : md5)
  }

  private static func parts(
    _ rows: [BackupIndex.Row], maxPart: Int = BackupIndex.maxPart
  ) throws -> [String: [UInt8]] {
    try BackupIndex.parts(maxPart: maxPart) { try rows.forEach($0) }
  }

  @Test("Any path is read as it was written")
  func paths() throws {
    var random = SeededRandom(seed: 3)
    let pieces = ["a", "\"", ",", "\n", "\r", "\r\n", "é", "e\u{301}", " ", "/", "''", "=1", "🏝"]
    for _ in 0..<200 {
      let rows = try (0..<random.below(6)).map { number in
        let path = (0...random.below(6)).map { _ in random.pick(pieces) }.joined()
        return try row(path, UInt8(number), random.pick(FileKind.allCases))
      }
      let parts = try Self.parts(rows)
      let read = BackupIndex.read(parts[""] ?? [])
      #expect(read.rows == rows && read.rejected == 0)
    }
  }

  @Test("A large index is in parts by the digits of the MD5, each as small as it has to be")
  func parts() throws {
    let rows = try (0..<200).map { try row("folder/\($0).jpg", UInt8($0)) }
    let whole = try #require(try Self.parts(rows)[""]).count
    #expect(try Self.parts(rows, maxPart: whole).keys.sorted() == [""])
    let parts = try Self.parts(rows, maxPart: whole - 1)
    #expect(parts.count == 13 && parts["0"] != nil && parts["c"] != nil)
    #expect(Set(parts.values.flatMap { BackupIndex.read($0).rows.map(\.path) }) == Set(rows.map(\.path)))
    #expect(try Self.parts(rows, maxPart: 100).keys.allSatisfy { $0.count == 2 })
    #expect(try Self.parts([], maxPart: 1).isEmpty)
  }

  @Test("Lines that are none are counted, and the others are read")
  func damaged() throws {
    let good = try #require(try Self.parts([row("a.jpg", 1)])[""])
    let text = String(decoding: good, as: UTF8.self)
    for bad in [
      "x", "a\"b,\(text.dropFirst(6))", text.replacing("photo", with: "picture"),
      text.replacing(",1,", with: ",-1,"),
      "a.jpg,zz,1,2,photo,", "",
    ] {
      let read = BackupIndex.read(Array("\(bad)\n\(text)".utf8))
      #expect(read.rows.count == 1 && read.rejected == 1, "\(bad)")
    }
    // More columns, as a later version may write them, and other line ends.
    #expect(BackupIndex.read(Array("\(text),more\r\n\(text)\r\n".utf8)).rows.count == 2)
    // An open quote takes the rest with it, and no more.
    #expect(BackupIndex.read(Array("\(text)\n\"\(text)".utf8)).rows.count == 1)
    var random = SeededRandom(seed: 5)
    for _ in 0..<2000 {
      var bytes = Array("\(text)\n\(text)".utf8)
      for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      _ = BackupIndex.read(bytes)
    }
  }

  @Test("Only paths below the directory are restored")
  func safety() {
    for path in ["a.jpg", "a/b/c.jpg", ".hidden/a", "...", "a..b"] { #expect(BackupIndex.isSafe(path)) }
    let long = String(repeating: "x", count: 256)
    for path in ["", "/a", "../a", "a/../b", "a//b", "a/", ".", "a/.", "a\0b", long, "a/\(long)"] {
      #expect(!BackupIndex.isSafe(path))
    }
    #expect(!BackupIndex.isSafe(Array(repeating: "a", count: 300).joined(separator: "/")))
  }
}
