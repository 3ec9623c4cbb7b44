import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Files of a directory with a manifest")
struct DirectoryManifestTests {
  private let fixture: CatalogueFixture
  private let path: String

  /// Ten photos in each shard, exported, and an empty catalogue.
  init() throws {
    let other = try CatalogueFixture()
    for shard in Shard.Index.all {
      try other.photos.upsert((0..<10).map { CatalogueFixture.photo($0, shard: shard) })
    }
    fixture = try CatalogueFixture()
    path = fixture.folder + "/shards"
    try other.photos.exportDirectory(path)
  }

  private func put(_ name: String, _ bytes: [UInt8]) throws {
    let file = try DiskFile("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC)
    #expect(bytes.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) } == bytes.count)
  }

  private func bytes(_ name: String) throws -> [UInt8] { try DiskFile("\(path)/\(name)", O_RDONLY).read() }

  @Test("a file truncated between rows is reported and not imported, also after the complete one was")
  func cut() throws {
    for isKnown in [false, true] {
      let whole = try bytes("7.csv")
      let end = try #require(whole.lastIndex(of: UInt8(ascii: "\n")))
      try put("7.csv", Array(whole[..<end]))
      let report = try fixture.photos.importDirectory(path)
      #expect(report.failed.map(\.shard.number) == [7] && report.failed.first?.error.code == .damaged)
      #expect(report.failed.first?.error.message.contains("7.csv") == true)
      #expect(report.hasManifest && report.missing.isEmpty)
      #expect(try fixture.photos.count() == (isKnown ? 160 : 150))
      try put("7.csv", whole)
      #expect(try fixture.photos.importDirectory(path).failed.isEmpty)
      #expect(try fixture.photos.count() == 160)
    }
  }

  @Test("a file that the manifest does not name is reported, and a missing one stays missing")
  func unnamed() throws {
    var manifest = try Manifest(parsing: bytes("manifest.json"))
    manifest.setChecksum(Shard.emptyChecksum, of: Shard.Index.all[3])
    try put("manifest.json", manifest.serialized())
    unlink("\(path)/4.csv")
    let report = try fixture.photos.importDirectory(path)
    #expect(report.failed.map(\.shard.number) == [3] && report.missing.map(\.number) == [4])
  }

  @Test("without a manifest the files are imported as they are, and the report says so")
  func absent() throws {
    unlink("\(path)/manifest.json")
    let whole = try bytes("7.csv")
    try put("7.csv", Array(whole[..<(try #require(whole.lastIndex(of: UInt8(ascii: "\n"))))]))
    let report = try fixture.photos.importDirectory(path)
    #expect(report.failed.isEmpty && !report.hasManifest)
    #expect(try fixture.photos.count() == 159)
  }

  @Test(
    "a manifest that cannot be read ends the import before it begins",
    arguments: ["", "{", "[]", "{\"version\": 7}"])
  func unreadable(_ text: String) throws {
    try put("manifest.json", Array(text.utf8))
    let error = #expect(throws: SatchelError.self) { try fixture.photos.importDirectory(path) }
    #expect([.invalid, .newer].contains(error?.code))
    #expect(try fixture.photos.count() == 0)
  }

  @Test("an item that is not a regular file is reported, and does not block")
  func noFiles() throws {
    for name in ["0", "1", "2"] { unlink("\(path)/\(name).csv") }
    #expect(mkfifo("\(path)/0.csv", 0o600) == 0 && mkdir("\(path)/1.csv", 0o700) == 0)
    #expect(symlink("3.csv", "\(path)/2.csv") == 0)
    let report = try fixture.photos.importDirectory(path)
    #expect(report.failed.map(\.shard.number) == [0, 1, 2])
    #expect(try fixture.photos.count() == 130)
  }

  @Test("a path that is too long is refused at once")
  func longPaths() throws {
    let error = #expect(throws: SatchelError.self) {
      try fixture.catalogue("x/" + String(repeating: "a/", count: 16_000))
    }
    #expect(error?.code == .invalid && error?.message.contains("4095") == true)
    let deep = "/" + String(repeating: "a/", count: 2_047)
    #expect(try DirectoryPath.normalized(deep) == String(deep.dropLast()))
    let up = "/x" + String(repeating: "/../x", count: 800)
    #expect(try DirectoryPath.normalized(up) == "/x")
    #expect(try DirectoryPath.normalized("/nowhere/./b//../c/") == "/nowhere/c")
  }
}
