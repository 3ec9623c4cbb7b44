import Foundation
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelPhotos

@Suite("Files of photos: edited, deleted, returned, films and sidecars")
struct ScanFilesTests {
  private func put(_ fixture: ScanFixture, _ names: [String]) throws {
    for name in names { try fixture.put(name, ScanFixture.jpeg(tail: name), modified: 1_000_000_000) }
  }

  @Test("An edit that keeps size and time is seen by the time of the change")
  func keptTime() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", ScanFixture.jpeg(tail: "1"), modified: 1_000_000_000)
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    try fixture.put("a.jpg", ScanFixture.jpeg(tail: "2"), modified: 1_000_000_000)
    let report = try photos.scan()
    #expect(report.changed == 1 && report.bytesRead > 0)
    #expect(try photos.count() == 1 && photos.photo(fixture.md5("a.jpg")) != nil)
  }

  @Test("A star and a place in the backup belong to the picture: they follow its edits")
  func star() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg", "b.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let old = try fixture.md5("a.jpg")
    try photos.star(old)
    // Twice, and undone at the end.
    for tail in ["edited", "again", "a.jpg"] {
      try fixture.put("a.jpg", ScanFixture.jpeg(tail: tail), modified: 1_000_000_000)
      let report = try photos.scan()
      #expect(report.changed == 1 && report.missingCount == 0 && report.removed == 0)
      let new = try #require(try photos.photo(fixture.md5("a.jpg")))
      #expect(new.isStarred && new.backup == .queued)
      #expect(try photos.count() == 2)
    }
    #expect(try photos.photo(old)?.isStarred == true)
    #expect(try photos.photo(fixture.md5("b.jpg"))?.isStarred == false)
  }

  @Test("Files that change their names among each other are no edits")
  func exchanged() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg", "b.jpg", "c.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let starred = try fixture.md5("a.jpg")
    try photos.star(starred)
    for (from, to) in [("b.jpg", "x"), ("a.jpg", "b.jpg"), ("x", "a.jpg")] {
      rename(fixture.path + "/" + from, fixture.path + "/" + to)
    }
    let report = try photos.scan()
    #expect(report.missingCount == 0)
    #expect(try photos.count() == 3)
    #expect(try photos.photo(starred)?.isStarred == true && photos.photo(starred)?.photo.filename == "b.jpg")
  }

  @Test("The edited copy of a photo leaves the row of the other copy")
  func editedCopy() throws {
    let fixture = try ScanFixture()
    for name in ["a.jpg", "b.jpg"] { try fixture.put(name, ScanFixture.jpeg(), modified: 1_000_000_000) }
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let both = try fixture.md5("a.jpg")
    try photos.star(both)
    try fixture.put("a.jpg", ScanFixture.jpeg(tail: "edited"), modified: 1_000_000_000)
    #expect(try photos.scan().missingCount == 0)
    #expect(try photos.count() == 2 && photos.photo(both)?.photo.filename == "b.jpg")
    #expect(try photos.photo(both)?.isStarred == true)
  }

  @Test("A row that went away while its file is here returns; one that was deleted here does not")
  func returned() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["gone.jpg", "deleted.jpg", "stays.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let (gone, deleted) = (try fixture.md5("gone.jpg"), try fixture.md5("deleted.jpg"))
    try photos.star(gone)
    // As a sync does that takes over another device's deletion.
    _ = try photos.change(count: 1) { try $0.set(gone, line: nil) }
    try photos.delete([deleted])
    var report = try photos.scan()
    #expect(report.returned == 1 && report.hidden == 1 && report.unchanged == 1)
    #expect(try photos.photo(gone)?.isStarred == true && photos.photo(deleted) == nil)
    // Not by another time or name of the file, but by an edit.
    fixture.touch("deleted.jpg", 1_000_000_001)
    rename(fixture.path + "/deleted.jpg", fixture.path + "/other.jpg")
    report = try photos.scan(options: ScanOptions(forceRehash: true))
    #expect(report.returned == 0 && report.hidden == 1 && report.missingCount == 0)
    #expect(try photos.scan().hidden == 1)
    try fixture.put("other.jpg", ScanFixture.jpeg(tail: "edited"), modified: 1_000_000_000)
    report = try photos.scan()
    #expect(report.hidden == 0 && report.changed == 1)
    #expect(try photos.count() == 3)
    // Where it came back by itself, a later deletion from afar is no deletion of this device.
    try photos.delete([gone])
    try photos.upsert([Photo(md5: gone, filename: "gone.jpg", size: 1, photodate: 2, modified: 3)])
    _ = try photos.scan()
    _ = try photos.change(count: 1) { try $0.set(gone, line: nil) }
    #expect(try photos.scan().returned == 1)
  }

  @Test("An empty directory is refused where files were, and scanned on demand")
  func empty() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg", "b/c.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    fixture.remove("a.jpg")
    fixture.remove("b/c.jpg")
    for deleteMissing in [false, true] {
      let error = #expect(throws: SatchelError.self) {
        try photos.scan(options: ScanOptions(deleteMissing: deleteMissing))
      }
      #expect(error?.code == .unavailable && error?.message.contains("allow_mass_deletion") == true)
    }
    #expect(try photos.count() == 2)
    // Any file shows that the directory is the right one.
    try fixture.put("notes.txt", [1])
    #expect(try photos.scan().missingCount == 2)
    fixture.remove("notes.txt")
    let report = try photos.scan(options: ScanOptions(deleteMissing: true, allowMassDeletion: true))
    #expect(report.removed == 2)
    #expect(try photos.count() == 0 && photos.scan().added == 0)
  }

  @Test("More than a half of the photos, and more than 100, are deleted on demand only")
  func massDeletion() throws {
    let fixture = try ScanFixture()
    try put(fixture, (0..<201).map { "\($0).jpg" })
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    for number in 0..<101 { fixture.remove("\(number).jpg") }
    let error = #expect(throws: SatchelError.self) {
      try photos.scan(options: ScanOptions(deleteMissing: true))
    }
    #expect(error?.code == .unavailable)
    #expect(try photos.count() == 201)
    // One photo more makes it a half.
    try fixture.put("new.jpg", ScanFixture.jpeg(tail: "new"))
    #expect(try photos.scan(options: ScanOptions(deleteMissing: true)).removed == 101)
    for number in 101..<201 { fixture.remove("\(number).jpg") }
    // Not more than 100, though nearly all.
    #expect(try photos.scan(options: ScanOptions(deleteMissing: true)).removed == 100)
    #expect(try photos.count() == 1)
  }

  @Test("Films, sidecars and other files are counted; folders of systems and what rules name are left out")
  func beside() throws {
    let fixture = try ScanFixture()
    try put(
      fixture,
      [
        "IMG_1.jpg", "img_1.MOV", "IMG_1.jpg.xmp", "IMG_O1.aae", "film.mp4", "sub/IMG_1.mov", "notes.pdf",
        "a.PDF",
        "noname", "@eaDir/x.jpg", "My.photoslibrary/y.jpg", "private/.nomedia", "private/z.jpg", "old/w.jpg",
        "old/keep/v.jpg", "sub/draft.jpg", "sub/final.jpg",
      ])
    try fixture.put(".satchelignore", Array("old/\n".utf8))
    try fixture.put("sub/.satchelignore", Array("draft*\n".utf8))
    let photos = try fixture.catalogue()
    let report = try photos.scan(options: ScanOptions(exclude: "film.*"))
    #expect(report.added == 2 && report.films == 2 && report.sidecars == 2 && report.excluded == 6)
    #expect(report.others == ["pdf": 2, "other": 1] && report.skippedCount == 0)
    let md5 = try fixture.md5("IMG_1.jpg")
    #expect(
      try photos.files(of: md5).map { "\($0.kind) \($0.path)" } == [
        "photo IMG_1.jpg", "film img_1.MOV", "sidecar IMG_1.jpg.xmp", "sidecar IMG_O1.aae",
      ])
    // Nothing is written while nothing changes; a film that goes away is forgotten.
    let before = try photos.database.read { try $0.number("SELECT max(revision) FROM change") }
    #expect(try photos.scan(options: ScanOptions(exclude: "film.*")).unchanged == 2)
    #expect(try photos.database.read { try $0.number("SELECT max(revision) FROM change") } == before)
    fixture.remove("img_1.MOV")
    #expect(try photos.scan().films == 2)
    #expect(try photos.files(of: md5).map(\.kind) == [.photo, .sidecar, .sidecar])
  }

  @Test("Rules that cannot be read leave their directory out, and its rows stay")
  func unreadableRules() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg", "sub/b.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    mkdir(fixture.path + "/sub/.satchelignore", 0o755)
    let report = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(report.skipped.map(\.path) == ["sub"] && report.removed == 0)
    #expect(report.skipped.first?.reason.hasPrefix(".satchelignore: ") == true)
    #expect(try photos.count() == 2)
  }

  @Test("A file that a program is writing is left for the next scan")
  func writing() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg"])
    let file = open(fixture.path + "/a.jpg", O_WRONLY)
    let photos = try fixture.catalogue()
    #expect(try photos.scan().skipped.map(\.reason) == ["a program is writing it"])
    close(file)
    #expect(try photos.scan().added == 1)
  }

  @Test("Two files of one name in two folders are different files, and a removed one is not present")
  func paths() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["2025/IMG_0001.jpg", "2026/IMG_0001.jpg"])
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let md5 = try fixture.md5("2026/IMG_0001.jpg")
    let files = try photos.files(of: md5)
    let file = try #require(files.first)
    #expect(files.count == 1)
    #expect(file.path == "2026/IMG_0001.jpg" && file.isPresent && file.modified == 1_000_000_000)
    fixture.remove("2026/IMG_0001.jpg")
    _ = try photos.scan()
    #expect(try photos.files(of: md5).map(\.isPresent) == [false])
  }

  @Test("A catalogue moves with its folder")
  func move() throws {
    let fixture = try ScanFixture()
    try put(fixture, ["a.jpg", "b.jpg"])
    let photos = try fixture.catalogue()
    let nothing = #expect(throws: SatchelError.self) { try photos.move(to: fixture.path + "/x") }
    #expect(nothing?.code == .notFound)
    _ = try photos.scan()
    let md5 = try fixture.md5("a.jpg")
    try photos.star(md5)
    let other = fixture.path + "-moved"
    defer { try? FileManager.default.removeItem(atPath: other) }
    rename(fixture.path, other)
    try photos.move(to: other)
    try photos.move(to: other)
    #expect(photos.directory == other)
    #expect(try photos.scan().unchanged == 2)
    let again = try PhotoCatalogue(database: photos.database, directory: other)
    #expect(try again.photo(md5)?.isStarred == true && again.count() == 2)
    // A directory with a catalogue is not replaced.
    let third = try PhotoCatalogue(database: photos.database, directory: fixture.path + "-third")
    try third.upsert([Photo(md5: md5, filename: "c.jpg", size: 1, photodate: 2, modified: 3)])
    let taken = #expect(throws: SatchelError.self) { try photos.move(to: third.directory) }
    #expect(taken?.code == .conflict)
    #expect(photos.directory == other)
  }
}
