import Foundation
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelPhotos

@Suite("Scanning a directory into its catalogue")
struct ScanCatalogueTests {
  @Test("Photos are added with their dates, sizes and cameras")
  func first() throws {
    let fixture = try ScanFixture()
    try fixture.put("b/horizon.JPG", ScanFixture.jpeg(ScanExif.usual().segment), modified: 1_600_000_000)
    try fixture.put("a.png", ScanFixture.picture("small.png"), modified: 1_500_000_000)
    try fixture.put("notes.txt", [1])
    let photos = try fixture.catalogue()
    let report = try photos.scan()
    #expect(report.added == 2 && report.skippedCount == 0 && report.remarks.isEmpty)
    #expect(report.missingLibraries.isEmpty && !report.isCancelled)
    #expect(try photos.count() == 2)
    let md5 = try fixture.md5("b/horizon.JPG")
    let details = try #require(try photos.photo(md5))
    #expect(details.photo.filename == "horizon.JPG")
    #expect(details.photo.photodate == 1_626_287_405 && details.photo.modified == 1_600_000_000)
    #expect(details.photo.width == 48 && details.photo.height == 32)
    #expect(details.metadata.cameraMake == "Zenit" && details.metadata.orientation == 6)
    #expect(details.metadata.shutterSpeed == "1/250" && details.metadata.iso == 400)
    let other = try #require(try photos.photo(fixture.md5("a.png")))
    #expect(other.photo.photodate == 1_500_000_000)
    #expect(details.dateSource == .original && other.dateSource == .file)
    #expect(report.dateSources == [.original: 1, .file: 1])
    // A date that a program has set is not that of the file.
    var dated = details.photo
    dated.photodate += 1
    try photos.upsert([dated])
    #expect(try photos.photo(md5)?.dateSource == nil)
    try photos.upsert([details.photo])
    #expect(try photos.photo(md5)?.dateSource == .original)
    #expect(report.bytesRead == details.photo.size + other.photo.size)
  }

  @Test("Unchanged files are not read again, and nothing is written")
  func unchanged() throws {
    let fixture = try ScanFixture()
    for number in 0..<50 { try fixture.put("\(number).jpg", ScanFixture.jpeg(tail: "\(number)")) }
    let photos = try fixture.catalogue()
    #expect(try photos.scan().added == 50)
    let before = try photos.database.read { try $0.number("SELECT max(revision) FROM change") }
    let report = try photos.scan()
    #expect(report.unchanged == 50 && report.added == 0 && report.changed == 0 && report.bytesRead == 0)
    #expect(try photos.database.read { try $0.number("SELECT max(revision) FROM change") } == before)
    let all = try photos.scan(options: ScanOptions(forceRehash: true))
    #expect(all.unchanged == 50 && all.bytesRead > 0)
    #expect(try photos.database.read { try $0.number("SELECT max(revision) FROM change") } == before)
  }

  @Test("Files that were edited, touched, moved and deleted")
  func changes() throws {
    let fixture = try ScanFixture()
    for name in ["edited", "touched", "moved", "deleted", "same"] {
      try fixture.put("\(name).jpg", ScanFixture.jpeg(tail: name), modified: 1_000_000_000)
    }
    let photos = try fixture.catalogue()
    #expect(try photos.scan().added == 5)
    let old = try fixture.md5("edited.jpg")
    let moved = try fixture.md5("moved.jpg")
    try fixture.put("edited.jpg", ScanFixture.jpeg(tail: "other"), modified: 1_000_000_000)
    fixture.touch("touched.jpg", 1_100_000_000)
    try fixture.put("elsewhere/new name.jpg", ScanFixture.jpeg(tail: "moved"), modified: 1_000_000_000)
    fixture.remove("moved.jpg")
    fixture.remove("deleted.jpg")
    for _ in 0..<2 {
      let report = try photos.scan()
      #expect(report.missing == ["deleted.jpg"] && report.missingCount == 1)
      #expect(report.removed == 0 && report.added + report.changed + report.unchanged == 4)
    }
    #expect(try photos.count() == 5 && photos.photo(old) == nil)
    #expect(try photos.photo(moved)?.photo.filename == "new name.jpg")
    #expect(try photos.photo(fixture.md5("touched.jpg"))?.photo.modified == 1_100_000_000)
    let report = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(report.removed == 1 && report.missingCount == 1 && report.unchanged == 4)
    #expect(try photos.count() == 4)
    #expect(try photos.scan(options: ScanOptions(deleteMissing: true)).missingCount == 0)
  }

  @Test("Restoring a file, with the old time too, restores the old photo")
  func undone() throws {
    let fixture = try ScanFixture()
    let photos = try fixture.catalogue()
    for round in 0..<4 {
      let tail = round % 2 == 0 ? "one" : "other"
      try fixture.put("a.jpg", ScanFixture.jpeg(tail: tail), modified: 1_000_000_000 + round % 2)
      _ = try photos.scan()
      let report = try photos.scan(options: ScanOptions(deleteMissing: true))
      #expect(report.unchanged == 1 && report.bytesRead == 0)
      #expect(try photos.count() == 1 && photos.photo(fixture.md5("a.jpg")) != nil)
    }
  }

  @Test("The same bytes at several paths are one photo, named after the first path")
  func duplicates() throws {
    let fixture = try ScanFixture()
    let bytes = try ScanFixture.jpeg()
    try fixture.put("m.jpg", bytes, modified: 1_000_000_000)
    try fixture.put("z/copy.jpg", bytes, modified: 1_200_000_000)
    let photos = try fixture.catalogue()
    let md5 = try fixture.md5("m.jpg")
    var report = try photos.scan()
    #expect(report.added == 1 && report.duplicatesCount == 1)
    #expect(report.duplicates == [.init(path: "z/copy.jpg", first: "m.jpg", md5: md5)])
    // A path before the others.
    try fixture.put("a.jpg", bytes, modified: 1_100_000_000)
    report = try photos.scan()
    #expect(report.duplicatesCount == 2 && report.changed == 1)
    #expect(
      try photos.photo(md5)?.photo.filename == "a.jpg" && photos.photo(md5)?.photo.modified == 1_100_000_000)
    // The first two are deleted: the third gives the name, though it did not change.
    fixture.remove("a.jpg")
    fixture.remove("m.jpg")
    report = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(
      report.changed == 1 && report.duplicatesCount == 0 && report.missingCount == 0 && report.removed == 0)
    #expect(try photos.photo(md5)?.photo.filename == "copy.jpg")
    #expect(try photos.photo(md5)?.photo.modified == 1_200_000_000)
    #expect(try photos.scan().unchanged == 1)
  }

  @Test("A photo of the remote keeps its row; only an unknown size is added")
  func fromRemote() throws {
    let fixture = try ScanFixture()
    try fixture.put("here.jpg", ScanFixture.jpeg(), modified: 1_000_000_000)
    let md5 = try fixture.md5("here.jpg")
    let photos = try fixture.catalogue()
    let row = Photo(md5: md5, filename: "there.jpg", size: 734, photodate: 5, modified: 6, applePhotoID: "x")
    try photos.upsert([row])
    #expect(try photos.scan().added == 1)
    var expected = row
    (expected.width, expected.height) = (48, 32)
    #expect(try photos.photo(md5)?.photo == expected)
  }

  @Test("Photos in directories that cannot be read are not removed")
  func unreadable() throws {
    let fixture = try ScanFixture()
    for name in ["a.jpg", "folder/b.jpg", "folder/c.jpg"] {
      try fixture.put(name, ScanFixture.jpeg(tail: name))
    }
    let photos = try fixture.catalogue()
    #expect(try photos.scan().added == 3)
    // The folder is replaced by a link; a file becomes empty.
    rename(fixture.path + "/folder", fixture.path + "/.away")
    symlink(".away", fixture.path + "/folder")
    try fixture.put("a.jpg", [])
    let report = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(
      report.missingCount == 0 && report.removed == 0 && report.skippedCount == 2
        && report.skippedLinksCount == 1)
    #expect(try photos.count() == 3)
    unlink(fixture.path + "/folder")
    rename(fixture.path + "/.away", fixture.path + "/folder")
    #expect(try photos.scan().unchanged == 2)
  }

  @Test("Files that cannot be read, or only in part, are reported")
  func reported() throws {
    let fixture = try ScanFixture()
    try fixture.put("page.jpg", Array("<html>".utf8))
    try fixture.put("cut.jpg", Array(ScanFixture.jpeg().prefix(100)))
    try fixture.put("empty.jpg", [])
    symlink("page.jpg", fixture.path + "/link.jpg")
    let report = try fixture.catalogue().scan()
    #expect(report.added == 2 && report.skippedCount == 2 && report.remarksCount == 2)
    #expect(report.skipped.map(\.path) == ["empty.jpg", "link.jpg"])
    #expect(Set(report.remarks.map(\.path)) == ["cut.jpg", "page.jpg"])
    let text = "\(report.json)"
    for word in ["skipped_links", "the file is empty", "missing_libraries"] { #expect(text.contains(word)) }
  }

  @Test("A catalogue without a directory, and a read-only store")
  func refused() throws {
    let fixture = try ScanFixture()
    let photos = try PhotoCatalogue(database: fixture.database(), directory: fixture.path + "/none")
    let missing = #expect(throws: SatchelError.self) { _ = try photos.scan() }
    #expect(missing?.code == .notFound)
    try fixture.put("a.jpg", ScanFixture.jpeg(ScanExif.usual().segment), modified: 1_000_000_000)
    _ = try fixture.catalogue().scan()
    let readOnly = try fixture.catalogue(in: fixture.database(isReadOnly: true))
    let refused = #expect(throws: SatchelError.self) { _ = try readOnly.scan() }
    #expect(refused?.code == .readOnly)
  }
}
