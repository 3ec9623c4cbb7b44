import Foundation
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

/// A temporary directory of photos.
final class ScanFixture: Sendable {
  private let temporary: TemporaryDirectory
  let path: String
  let store: String

  init() throws {
    temporary = try TemporaryDirectory()
    let photos = temporary.url.appending(path: "photos")
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: false)
    // The real path, as in a catalogue.
    path = photos.resolvingSymlinksInPath().path(percentEncoded: false)
    store = temporary.url.appending(path: "store").path(percentEncoded: false)
  }

  deinit {
    // Not FileManager, which cannot remove what is too deep for a path.
    let remove = Process()
    remove.executableURL = URL(filePath: "/bin/rm")
    remove.arguments = ["-rf", path]
    try? remove.run()
    remove.waitUntilExit()
  }

  func put(_ name: String, _ bytes: [UInt8], modified: Int? = nil) throws {
    let url = URL(filePath: path).appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    #expect(file >= 0)
    bytes.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
    close(file)
    if let modified { touch(name, modified) }
  }

  /// Sets a file's time, in Unix seconds.
  func touch(_ name: String, _ seconds: Int) {
    var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, path + "/" + name, &times, 0) == 0)
  }

  func remove(_ name: String) { unlink(path + "/" + name) }

  /// Returns the result of a walk.
  func walk() throws -> PhotoFindings {
    var walk = PhotoWalk(try PhotoRoot(path))
    #expect(walk.run { _ in true })
    return walk.found
  }

  /// Reads the only photo that a walk finds.
  func read() throws -> ScannedPhoto {
    let root = try PhotoRoot(path)
    let found = try walk()
    let entry = try #require(found.entries.first)
    var reader = PhotoFileReader(found.tree, in: root)
    return try #require(try reader.read(entry) { _ in true })
  }

  // MARK: Pictures

  /// A file of Tests/Fixtures/photos; all of 48 × 32 pixels.
  static func picture(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try Array(Data(contentsOf: folder.appending(path: "Fixtures/photos").appending(path: name)))
  }

  /// A JPEG with additional first segments, and a tail that changes its MD5.
  static func jpeg(_ segments: [UInt8] = [], tail: String = "") throws -> [UInt8] {
    let base = try picture("baseline.jpg")
    return base.prefix(2) + segments + base.dropFirst(2) + Array(tail.utf8)
  }

  static func facts(_ bytes: [UInt8], name: String = "a.jpg", zone: Int64 = 0) -> ImageFacts {
    bytes.withUnsafeBytes { ImageFacts(head: $0, name: name, zone: PhotoTimeZone(offset: zone)) }
  }

  static func facts(_ exif: ScanExif, zone: Int64 = 0) throws -> ImageFacts {
    facts(try jpeg(exif.segment), zone: zone)
  }

  /// The MD5 of a file's bytes.
  func md5(_ name: String) throws -> MD5 {
    let bytes = try Data(contentsOf: URL(filePath: path).appending(path: name))
    var hash = MD5Hash()
    bytes.withUnsafeBytes { hash.update($0) }
    return hash.digest()
  }

  // MARK: Catalogues

  /// A store with nothing but photos; the same one each time.
  func database(isReadOnly: Bool = false) throws -> Database {
    try Self.database(store, isReadOnly: isReadOnly)
  }

  static func database(_ path: String, isReadOnly: Bool = false) throws -> Database {
    var options = StoreOptions()
    options.isReadOnly = isReadOnly
    return try Database.open(
      path: path, options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }

  /// The catalogue of the directory.
  func catalogue(in database: Database? = nil) throws -> PhotoCatalogue {
    try PhotoCatalogue(database: database ?? self.database(), directory: path)
  }
}
