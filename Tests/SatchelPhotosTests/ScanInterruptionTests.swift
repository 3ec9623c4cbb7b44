import Foundation
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelPhotos

@Suite("Interrupted and concurrent scans")
struct ScanInterruptionTests {
  private func make(_ count: Int) throws -> ScanFixture {
    let fixture = try ScanFixture()
    for number in 0..<count {
      try fixture.put("\(number % 9)/\(number).jpg", ScanFixture.jpeg(tail: "\(number)"))
    }
    return fixture
  }

  @Test("Progress is reported from nothing to all")
  func progress() throws {
    let fixture = try make(1200)
    var reports: [ScanProgress] = []
    let report = try fixture.catalogue().scan {
      reports.append($0)
      return true
    }
    let last = try #require(reports.last)
    #expect(reports.first?.phase == .walking && last.phase == .reading)
    #expect(last.filesFound == 1200 && last.filesDone == 1200 && last.filesTotal == 1200)
    #expect(last.bytesDone == report.bytesRead && last.bytesTotal == report.bytesRead)
    for (earlier, later) in zip(reports, reports.dropFirst()) {
      #expect(earlier.filesDone <= later.filesDone)
    }
  }

  @Test("A scan after a cancelled one continues from there", arguments: [0, 1, 3])
  func cancel(after parts: Int) throws {
    let fixture = try make(2000)
    let photos = try fixture.catalogue()
    var reading = 0
    let report = try photos.scan { progress in
      if progress.phase == .reading { reading += 1 }
      return reading <= parts
    }
    #expect(report.isCancelled && report.missingCount == 0)
    let count = try photos.count()
    #expect(count == report.added)
    let rest = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(rest.unchanged == count && rest.added == 2000 - count && rest.removed == 0)
    #expect(try photos.count() == 2000)
  }

  @Test("A cancelled walk neither adds nor removes photos")
  func cancelWalk() throws {
    let fixture = try make(300)
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let report = try photos.scan(options: ScanOptions(deleteMissing: true)) { _ in false }
    #expect(report.isCancelled && report.missingCount == 0 && report.removed == 0)
    #expect(try photos.count() == 300)
  }

  @Test("Two concurrent scans, in two stores of one file, have the same result", .timeLimit(.minutes(20)))
  func atOnce() throws {
    let fixture = try make(1500)
    for number in 0..<100 { try fixture.put("copies/\(number).jpg", ScanFixture.jpeg(tail: "\(number)")) }
    _ = try fixture.catalogue().scan()
    for number in 200..<400 { fixture.remove("\(number % 9)/\(number).jpg") }
    for number in 2000..<2400 { try fixture.put("new/\(number).jpg", ScanFixture.jpeg(tail: "\(number)")) }
    let stores = [try fixture.database(), try fixture.database()]
    let reports = Locked<[Result<ScanReport, any Error>]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      let report = Result {
        try fixture.catalogue(in: stores[number % 2]).scan(options: ScanOptions(deleteMissing: true))
      }
      reports.withLock { $0.append(report) }
    }
    for report in reports.withLock({ $0 }) { #expect(try report.get().skippedCount == 0) }
    let photos = try fixture.catalogue(in: stores[0])
    #expect(try photos.count() == 1500 - 200 + 400)
    let last = try photos.scan(options: ScanOptions(deleteMissing: true))
    #expect(
      last.unchanged == 1700 && last.duplicatesCount == 100 && last.missingCount == 0 && last.bytesRead == 0)
    #expect(try stores[0].checkIntegrity().isEmpty)
  }

  @Test("A photo that another scan finds again meanwhile is not removed")
  func foundAgain() throws {
    let fixture = try make(20)
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let bytes = try ScanFixture.jpeg(tail: "3")
    fixture.remove("3/3.jpg")
    // After the first scan's walk the file gets another name, under which the second scan finds it.
    try fixture.put("5/99.jpg", ScanFixture.jpeg(tail: "99"))
    var isFirst = true
    let report = try photos.scan(options: ScanOptions(deleteMissing: true)) { progress in
      if progress.phase == .reading, isFirst {
        isFirst = false
        #expect((try? fixture.put("back.jpg", bytes)) != nil)
        #expect((try? photos.scan())?.missingCount == 0)
      }
      return true
    }
    #expect(report.removed == 0)
    #expect(try photos.photo(fixture.md5("back.jpg")) != nil)
  }

  @Test("Scans of a random history end like one scan of its last state")
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
        // Some scans are cancelled.
        var callsLeft = random.below(4)
        _ = try photos.scan(options: ScanOptions(deleteMissing: random.once(in: 2))) { _ in
          callsLeft -= 1
          return callsLeft != 0
        }
      }
      // Other bytes with the same size and time cannot be noticed without reading.
      _ = try photos.scan(options: ScanOptions(deleteMissing: true, forceRehash: true))
      let fresh = try fixture.catalogue(in: ScanFixture.database(":memory:"))
      _ = try fresh.scan()
      #expect(try photos.count() == fresh.count())
      for index in Shard.Index.all { #expect(try photos.exportShard(index) == fresh.exportShard(index)) }
    }
  }
}
