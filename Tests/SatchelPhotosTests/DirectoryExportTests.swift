import Foundation
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelPhotos

@Suite("Exporting to a directory")
struct DirectoryExportTests {
  private let fixture: CatalogueFixture
  private var photos: PhotoCatalogue { fixture.photos }
  private var path: String { fixture.folder + "/shards" }
  private var file: String { "\(path)/\(CatalogueFixture.shard.fileName)" }
  private let all = (0..<3000).map { CatalogueFixture.photo($0) }

  init() throws {
    fixture = try CatalogueFixture()
    try photos.upsert(all)
    try photos.exportDirectory(path)
  }

  private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

  private func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: file)) }

  @Test("replaces a file that differs anywhere, and leaves the others alone")
  func differences() throws {
    let sound = CatalogueFixture.file(all)
    #expect(try content() == sound)
    var (first, middle, last) = (sound, sound, sound)
    first[0] ^= 1
    middle[sound.count / 2] ^= 1
    last[sound.count - 1] ^= 1
    for damaged in [first, middle, last, [], Array(sound.dropLast()), sound + [10], sound + sound] {
      try put(damaged)
      #expect(try photos.exportDirectory(path).written == [CatalogueFixture.shard.fileName])
      #expect(try content() == sound)
    }
    #expect(try photos.exportDirectory(path).written == [])
    try fixture.photos.upsert([CatalogueFixture.photo(0, name: "new.jpg")])
    #expect(
      try photos.exportDirectory(path).written == [CatalogueFixture.shard.fileName, ShardDirectory.manifest])
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 17)
  }

  @Test("a first import makes the index of dates after the rows, where it was")
  func firstImport() throws {
    let other = try CatalogueFixture()
    try other.photos.importDirectory(path)
    #expect(try roots(other) == roots(fixture))
    var query = PhotoQuery()
    (query.order, query.limit) = (.photodate, 5000)
    #expect(try other.photos.query(query).photos.map(\.photo) == photos.query(query).photos.map(\.photo))
    let check = try other.database.read {
      try $0.first("PRAGMA integrity_check") { $0.text(0) }
    }
    #expect(check == "ok")
  }

  /// The names of the B-trees, in the order of their root pages.
  private func roots(_ fixture: CatalogueFixture) throws -> [String] {
    try fixture.database.read { connection in
      var names: [String] = []
      try connection.each("SELECT name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage") {
        names.append($0.text(0))
      }
      return names
    }
  }

  @Test("a file that cannot be replaced is named in the error, and the manifest is not written")
  func obstacle() throws {
    let manifest = try Data(contentsOf: URL(filePath: path + "/manifest.json"))
    try photos.upsert([CatalogueFixture.photo(1, name: "new.jpg")])
    unlink(file)
    mkdir(file, 0o755)
    let error = try #require(throws: SatchelError.self) { try photos.exportDirectory(path) }
    #expect(error.message.contains(file), "\(error)")
    #expect(try Data(contentsOf: URL(filePath: path + "/manifest.json")) == manifest)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 17)
  }

  @Test("a damaged shard is reported, and its file stays")
  func damaged() throws {
    let sound = try content()
    try photos.uploadAll()
    try fixture.execute("UPDATE photo SET filename = 'b.jpg' WHERE md5 = (SELECT max(md5) FROM photo)")
    let error = try #require(throws: SatchelError.self) { try photos.exportDirectory(path) }
    #expect(error.code == .damaged)
    #expect(try content() == sound)
    unlink(file)
    #expect(throws: SatchelError.self) { try photos.exportDirectory(path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 16)
  }

  @Test("inside a transaction, its changes so far are exported")
  func transaction() throws {
    try fixture.database.write { _ in
      try photos.delete(all.dropFirst().map(\.md5))
      #expect(try photos.exportDirectory(path).photos == 1)
    }
    #expect(try content() == CatalogueFixture.file([all[0]]))
  }

  @Test("names of several lines, at any position")
  func severalLines() throws {
    for step in [1, 2, 7, 293, 1000, 2999] {
      let named = all.enumerated().map { number, photo in
        CatalogueFixture.photo(number, name: number % step == 0 ? "two\nlines, \"quoted\".jpg" : "a, b.jpg")
      }
      let lines = named.sorted { $0.md5 < $1.md5 }.map(CatalogueFixture.line).joined(separator: "\n")
      try photos.importShard(CatalogueFixture.shard, Array(lines.utf8))
      #expect(try photos.exportShard(CatalogueFixture.shard) == Array(lines.utf8))
      for number in stride(from: 0, to: 3000, by: 37) {
        #expect(try photos.photo(named[number].md5)?.photo == named[number])
      }
      #expect(try PhotoCatalogue.check(fixture.database) == [])
    }
  }
}
