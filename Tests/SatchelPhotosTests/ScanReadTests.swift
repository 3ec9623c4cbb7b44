import Foundation
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Reading photos")
struct ScanReadTests {
  @Test("MD5, size, time and image size of a file")
  func read() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", try ScanFixture.jpeg(ScanExif.usual().segment), modified: 1_000_000_000)
    let photo = try fixture.read()
    // Compared with md5sum.
    let sum = Process()
    let pipe = Pipe()
    sum.executableURL = URL(filePath: "/usr/bin/env")
    sum.arguments = ["md5sum", fixture.path + "/a.jpg"]
    sum.standardOutput = pipe
    try sum.run()
    let printed = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(photo.md5.description == String(printed.prefix(32)))
    #expect(photo.modifiedSeconds == 1_000_000_000 && photo.modified == 1_000_000_000_000_000_000)
    let row = photo.photo(named: "a.jpg")
    #expect(row.photodate == 1_626_287_405 && row.modified == 1_000_000_000 && row.width == 48)
    #expect(row.size == photo.size)
  }

  @Test("Files of many parts, and of sizes around that of the buffer", arguments: [-1, 0, 1, 12_345_678])
  func sizes(more: Int) throws {
    let fixture = try ScanFixture()
    var random = SeededRandom(seed: 7)
    var bytes = try ScanFixture.jpeg()
    while bytes.count < PhotoFileReader.headSize + more {
      withUnsafeBytes(of: random.next()) { bytes += $0 }
    }
    bytes = Array(bytes.prefix(PhotoFileReader.headSize + more))
    try fixture.put("a.jpg", bytes)
    let photo = try fixture.read()
    var hash = MD5Hash()
    bytes.withUnsafeBytes { hash.update($0) }
    #expect(photo.md5 == hash.digest())
    #expect(photo.size == Int64(bytes.count) && photo.facts.width == 48)
  }

  @Test("Without EXIF a photo has the date of its file, before 1970, too")
  func old() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.png", try ScanFixture.picture("small.png"), modified: -86_400)
    #expect(try fixture.read().photo(named: "a.png").photodate == -86_400)
  }

  @Test(
    "A file that changes while it is read is reported", arguments: ["grow", "shrink", "rewrite"])
  func changing(how: String) throws {
    let fixture = try ScanFixture()
    let size = 3 * PhotoFileReader.headSize
    try fixture.put("a.jpg", [UInt8](repeating: 1, count: size), modified: 1_000_000_000)
    let found = try fixture.walk()
    var reader = PhotoFileReader(found.tree, in: try PhotoRoot(fixture.path))
    let path = fixture.path + "/a.jpg"
    let fault = #expect(throws: OpenFile.Fault.self) {
      _ = try reader.read(found.entries[0]) { _ in
        switch how {
        case "grow": truncate(path, off_t(size + 10))
        case "shrink": truncate(path, off_t(size - 10))
        default:
          // The same size, and the time is reset.
          let file = open(path, O_WRONLY)
          write(file, "x", 1)
          close(file)
          fixture.touch("a.jpg", 1_000_000_000)
        }
        return true
      }
    }
    #expect(fault?.reason == "changed while it was read")
  }

  @Test("Cancelled reading returns nothing")
  func cancel() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", [UInt8](repeating: 1, count: 5 * PhotoFileReader.headSize))
    let found = try fixture.walk()
    var reader = PhotoFileReader(found.tree, in: try PhotoRoot(fixture.path))
    var parts = 0
    let photo = try reader.read(found.entries[0]) { _ in
      parts += 1
      return parts < 2
    }
    #expect(photo == nil && parts == 2)
  }

  @Test("Several threads read the same as one", arguments: [1, 2, 16])
  func threads(count: Int) throws {
    let fixture = try ScanFixture()
    for number in 0..<300 {
      try fixture.put("\(number % 7)/\(number).jpg", ScanFixture.jpeg(tail: "\(number)"))
    }
    let found = try fixture.walk()
    let root = try PhotoRoot(fixture.path)
    let readers = try PhotoReaders(found.entries, parallel: count) {
      PhotoFileReader(found.tree, in: root)
    }
    defer { readers.files.stop() }
    var reader = PhotoFileReader(found.tree, in: root)
    var count = 0
    while !readers.files.isFinished {
      _ = readers.files.wait(for: 50, milliseconds: 50)
      let part = readers.files.popOutcomes(limit: 50)
      #expect(part.first == count)
      for outcome in part.outcomes {
        let expected = try reader.read(found.entries[count]) { _ in true }
        #expect(try outcome.get() == expected)
        count += 1
      }
    }
    #expect(count == 300 && readers.done.files == 300)
  }
}
