import Foundation
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Scans that are interrupted, and scans at once")
struct ScanInterruptionTests {
  private func make(_ count: Int) throws -> ScanFixture {
    let fixture = try ScanFixture()
    for number in 0..<count {
      try fixture.put("\(number % 9)/\(number).jpg", ScanFixture.jpeg(tail: "\(number)"))
    }
    return fixture
  }

  @Test("Progress is told from nothing to all")
  func progress() throws {
    let fixture = try make(1200)
    var told: [ScanProgress] = []
    let report = try fixture.catalogue().scan {
      told.append($0)
      return true
    }
    let last = try #require(told.last)
    #expect(told.first?.phase == .walking && last.phase == .reading)
    #expect(last.filesFound == 1200 && last.filesDone == 1200 && last.filesTotal == 1200)
    #expect(last.bytesDone == report.bytesRead && last.bytesTotal == report.bytesRead)
    for (earlier, later) in zip(told, told.dropFirst()) { #expect(earlier.filesDone <= later.filesDone) }
  }

  @Test("A scan that was cancelled goes on where it ended", arguments: [0, 1, 3])
  func cancel(after parts: Int) throws {
    let fixture = try make(2000)
    let photos = try fixture.catalogue()
    var reading = 0
    let report = try photos.scan { progress in
      if progress.phase == .reading { reading += 1 }
      return reading <= parts
    }
    #expect(report.isCancelled && report.missing == 0)
    let count = try photos.count()
    #expect(count == report.added)
    let rest = try photos.scan(options: ScanOptions(removesMissing: true))
    #expect(rest.unchanged == count && rest.added == 2000 - count && rest.removed == 0)
    #expect(try photos.count() == 2000)
  }

  @Test("A walk that was cancelled takes nothing, and takes nothing away")
  func cancelWalk() throws {
    let fixture = try make(300)
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let report = try photos.scan(options: ScanOptions(removesMissing: true)) { _ in false }
    #expect(report.isCancelled && report.missing == 0 && report.removed == 0)
    #expect(try photos.count() == 300)
  }

  @Test("Two scans at once, in two stores of one file, agree", .timeLimit(.minutes(20)))
  func atOnce() throws {
    let fixture = try make(1500)
    for number in 0..<100 { try fixture.put("copies/\(number).jpg", ScanFixture.jpeg(tail: "\(number)")) }
    _ = try fixture.catalogue().scan()
    for number in 200..<400 { fixture.remove("\(number % 9)/\(number).jpg") }
    for number in 2000..<2400 { try fixture.put("new/\(number).jpg", ScanFixture.jpeg(tail: "\(number)")) }
    let stores = [try fixture.database(), try fixture.database()]
    let reports = Guarded<[Result<ScanReport, any Error>]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      let report = Result {
        try fixture.catalogue(in: stores[number % 2]).scan(options: ScanOptions(removesMissing: true))
      }
      reports.withLock { $0.append(report) }
    }
    for report in reports.withLock({ $0 }) { #expect(try report.get().skippedCount == 0) }
    let photos = try fixture.catalogue(in: stores[0])
    #expect(try photos.count() == 1500 - 200 + 400)
    let last = try photos.scan(options: ScanOptions(removesMissing: true))
    #expect(last.unchanged == 1700 && last.duplicates == 100 && last.missing == 0 && last.bytesRead == 0)
    #expect(try stores[0].checkIntegrity().isEmpty)
  }

  @Test("What is lost while another scan finds it again is not removed")
  func foundAgain() throws {
    let fixture = try make(20)
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let bytes = try ScanFixture.jpeg(tail: "3")
    fixture.remove("3/3.jpg")
    // The first scan has walked when the file comes back under another name, and the second one takes it.
    try fixture.put("5/99.jpg", ScanFixture.jpeg(tail: "99"))
    var isFirst = true
    let report = try photos.scan(options: ScanOptions(removesMissing: true)) { progress in
      if progress.phase == .reading, isFirst {
        isFirst = false
        #expect((try? fixture.put("back.jpg", bytes)) != nil)
        #expect((try? photos.scan())?.missing == 0)
      }
      return true
    }
    #expect(report.removed == 0)
    #expect(try photos.photo(fixture.md5("back.jpg")) != nil)
  }

  @Test("A random history of a directory ends as one scan of its last state would")
  func history() throws {
    var random = SeededRandom(seed: 4)
    for _ in 0..<6 {
      let fixture = try ScanFixture()
      let photos = try fixture.catalogue()
      for _ in 0..<12 {
        for _ in 0...random.below(6) {
          let name = random.pick(["a", "b", "c", "d/a", "d/b", "e/f/a"]) + ".jpg"
          if random.once(in: 3) {
            fixture.remove(name)
          } else {
            let bytes = try ScanFixture.jpeg(tail: "\(random.below(4))")
            try fixture.put(name, bytes, modified: 1_000_000_000 + random.below(3))
          }
        }
        // Cut short now and then.
        var patience = random.below(4)
        _ = try photos.scan(options: ScanOptions(removesMissing: random.once(in: 2))) { _ in
          patience -= 1
          return patience != 0
        }
      }
      // Same size and time with other bytes is what cannot be noticed without reading.
      _ = try photos.scan(options: ScanOptions(removesMissing: true, readsEverything: true))
      let fresh = try fixture.catalogue(in: ScanFixture.database(":memory:"))
      _ = try fresh.scan()
      #expect(try photos.count() == fresh.count())
      for index in Shard.Index.all { #expect(try photos.exportShard(index) == fresh.exportShard(index)) }
    }
  }
}
