import Foundation
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Walking a directory of photos")
struct ScanWalkTests {
  private func paths(_ found: PhotoFindings) -> [String] {
    var paths = PhotoPaths(found.tree)
    return found.entries.map { paths.text($0) }
  }

  private func skipped(_ found: PhotoFindings) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: found.skipped.map { (String(decoding: $0.path, as: UTF8.self), $0.reason) })
  }

  @Test("Photos are recognized by the extensions of their names, in any case; hidden ones are skipped")
  func names() throws {
    let fixture = try ScanFixture()
    let photos = [
      "a.JPG", "b.jpeg", "c.Heic", "d.png", "e.TIFF", "f.webp", "g.dng", "h.x.CR2", "i.bmp", "j.gif",
      "k.heif", "é.jpg", "e\u{301}.jpg", "with\nline,\"quote\".jpg",
    ]
    let others = ["jpg", "a.txt", "a.jpg.bak", ".hidden.jpg", "a.jpgx", "movie.mp4", "README", "a."]
    for name in photos + others { try fixture.put(name, [1]) }
    try fixture.put(".photolala/0.jpg", [1])
    try fixture.put(".thumbnails/a/b.jpg", [1])
    let found = try fixture.walk()
    // Compared as bytes: names in different normal forms are different.
    #expect(Set(paths(found).map { Array($0.utf8) }) == Set(photos.map { Array($0.utf8) }))
    #expect(found.entries.count == photos.count && found.skipped.isEmpty)
  }

  @Test("The order is that of the paths' bytes")
  func order() throws {
    let fixture = try ScanFixture()
    let names = [
      "a/b.jpg", "a.jpg", "a b/c.jpg", "a/b/c.jpg", "a/b.c/d.jpg", "A/z.jpg", "z.jpg", "é/a.jpg", "a/b0.jpg",
    ]
    for name in names { try fixture.put(name, [1]) }
    let found = paths(try fixture.walk())
    #expect(found == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test("Links, pipes and empty files are reported, and not opened", .timeLimit(.minutes(20)))
  func special() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", [1])
    try fixture.put("empty.jpg", [])
    symlink("a.jpg", fixture.path + "/link.jpg")
    symlink("nowhere", fixture.path + "/dangling.jpg")
    symlink("/", fixture.path + "/root")
    symlink(".", fixture.path + "/loop")
    // A walk that opened it would wait for a writer.
    mkfifo(fixture.path + "/pipe.jpg", 0o644)
    mkfifo(fixture.path + "/pipe", 0o644)
    let found = try fixture.walk()
    #expect(paths(found) == ["a.jpg"])
    let link = "a link, which is not followed"
    #expect(
      skipped(found) == [
        "link.jpg": link, "dangling.jpg": link, "root": link, "loop": link, "pipe.jpg": "not a regular file",
        "empty.jpg": "the file is empty",
      ])
    #expect(found.isUnread(Array("root/home/a.jpg".utf8)) && !found.isUnread(Array("rooted/a.jpg".utf8)))
  }

  @Test("Names that are not UTF-8 are reported")
  func notText() throws {
    let fixture = try ScanFixture()
    for name in [[0x61, 0xFF, 0x2E, 0x6A, 0x70, 0x67, 0], [0xC3, 0]] as [[UInt8]] {
      let path = Array(fixture.path.utf8) + [UInt8(ascii: "/")] + name
      path.withUnsafeBytes { bytes in
        guard let path = bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return }
        if name.count > 2 { close(open(path, O_WRONLY | O_CREAT, 0o644)) } else { mkdir(path, 0o755) }
      }
    }
    let found = try fixture.walk()
    #expect(
      skipped(found) == ["a\u{FFFD}.jpg": "its name is not UTF-8", "\u{FFFD}": "its name is not UTF-8"])
    #expect(found.entries.isEmpty)
  }

  @Test("A tree of 1,000 levels, longer than any path can be", .timeLimit(.minutes(20)))
  func deep() throws {
    let fixture = try ScanFixture()
    var here = open(fixture.path, O_RDONLY | O_DIRECTORY)
    let bytes = try ScanFixture.jpeg()
    for level in 0..<1000 {
      if level % 100 == 99 {
        let file = openat(here, "photo.jpg", O_WRONLY | O_CREAT, 0o644)
        bytes.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
        close(file)
      }
      #expect(mkdirat(here, "directory \(level)", 0o755) == 0)
      let next = openat(here, "directory \(level)", O_RDONLY | O_DIRECTORY)
      close(here)
      here = next
    }
    close(here)
    let found = try fixture.walk()
    #expect(found.entries.count == 10 && found.tree.directories.count == 1001)
    #expect(paths(found).contains { $0.utf8.count > 10_000 })
    var reader = PhotoFileReader(found.tree, in: try PhotoRoot(fixture.path))
    for entry in found.entries.reversed() {
      #expect(try reader.read(entry) { _ in true }?.facts.width == 48)
    }
  }

  @Test("100,000 names in one directory", .timeLimit(.minutes(20)))
  func many() throws {
    let fixture = try ScanFixture()
    let directory = open(fixture.path, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    func walk(upTo count: Int, from first: Int) throws -> Double {
      for number in first..<count { close(openat(directory, "IMG_\(number).jpg", O_WRONLY | O_CREAT, 0o644)) }
      var found: Int?
      let seconds = try Work.processorSeconds { found = try fixture.walk().skipped.count }
      #expect(found == count)
      return seconds
    }
    let short = try walk(upTo: 10_000, from: 0)
    let long = try walk(upTo: 100_000, from: 10_000)
    // Ten times the names; quadratic work would take a hundred times as long.
    #expect(long < short * 40)
  }

  @Test("A cancelled walk ends at once")
  func cancel() throws {
    let fixture = try ScanFixture()
    for number in 0..<1000 { try fixture.put("\(number).jpg", [1]) }
    var walk = PhotoWalk(try PhotoRoot(fixture.path))
    #expect(!walk.run { $0.entries.count < 300 })
    #expect(walk.found.entries.count < 1000)
  }

  @Test("A directory that is not one")
  func noDirectory() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", [1])
    for (path, code) in [("/gone", SatchelError.Code.notFound), ("/a.jpg", .invalid)] {
      let error = #expect(throws: SatchelError.self) { _ = try PhotoRoot(fixture.path + path) }
      #expect(error?.code == code)
    }
  }

  @Test("A link or a pipe that replaces a file after the walk is not opened")
  func replaced() throws {
    let fixture = try ScanFixture()
    for name in ["a.jpg", "b.jpg", "c/d.jpg", "e.jpg"] { try fixture.put(name, [1]) }
    let found = try fixture.walk()
    for name in ["a.jpg", "b.jpg", "c/d.jpg", "e.jpg"] { fixture.remove(name) }
    symlink("/etc/passwd", fixture.path + "/a.jpg")
    mkfifo(fixture.path + "/b.jpg", 0o644)
    rmdir(fixture.path + "/c")
    symlink("/etc", fixture.path + "/c")
    var reader = PhotoFileReader(found.tree, in: try PhotoRoot(fixture.path))
    var reasons: [String] = []
    for entry in found.entries {
      do throws(OpenFile.Fault) { _ = try reader.read(entry) { _ in true } } catch {
        reasons.append(error.reason)
      }
    }
    #expect(
      reasons == [
        "a link, which is not followed", "not a regular file", "Not a directory", "No such file or directory",
      ])
  }
}
