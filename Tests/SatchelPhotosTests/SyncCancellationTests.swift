import Testing

import SatchelPhotos
import SatchelRemote
import SatchelCore
import SatchelStorage

/// Cancelling at any moment leaves both sides sound.
struct SyncCancellationTests {
  /// Something to do in both directions.
  private func busy(_ fixture: SyncFixture) throws -> (PhotoCatalogue, PhotoCatalogue) {
    let (one, other) = try fixture.syncedDevices()
    try other.upsert([try SyncFixture.photo(0, 2), try SyncFixture.photo(1, 2)])
    try fixture.sync(other)
    try one.upsert([try SyncFixture.photo(1, 3), try SyncFixture.photo(2, 3), try SyncFixture.photo(5, 3)])
    return (one, other)
  }

  private func checkSound(
    _ fixture: SyncFixture, _ one: PhotoCatalogue, _ other: PhotoCatalogue, _ place: String
  )
    throws
  {
    #expect(try one.count() >= 7, "\(place)")
    for _ in 0..<2 { for device in [one, other] { try fixture.sync(device) { $0.onConflict = .merge } } }
    for device in [one, other] {
      #expect(try SyncFixture.content(device) == fixture.content(), "\(place)")
      #expect(try device.count() == 9, "\(place)")
      #expect(try device.conflicts().isEmpty, "\(place)")
    }
  }

  @Test("at any request") func anyRequest() throws {
    var number = 1
    while true {
      let fixture = try SyncFixture()
      let (one, other) = try busy(fixture)
      let (isCancelled, last) = (Locked(false), fixture.store.requests.count + number)
      fixture.store.before.withLock {
        $0 = { request in if request.number >= last { isCancelled.withLock { $0 = true } } }
      }
      let result = Result {
        try fixture.sync(one) {
          $0.onConflict = .merge
          $0.cancellation = Cancellation { isCancelled.withLock { $0 } }
        }
      }
      fixture.store.clearHooks()
      if !isCancelled.withLock({ $0 }) { break }
      if case .failure(let error) = result { #expect((error as? SatchelError)?.code == .cancelled) }
      try checkSound(fixture, one, other, "request \(number)")
      number += 1
    }
    #expect(number > 7)
  }

  @Test("at any report of progress") func anyReportProgress() throws {
    var number = 1
    while true {
      let fixture = try SyncFixture()
      let (one, other) = try busy(fixture)
      let (reported, last) = (Locked(0), number)
      let result = Result {
        try fixture.sync(one, { $0.onConflict = .merge }) { _ in
          reported.withLock { reported in
            reported += 1
            return reported < last
          }
        }
      }
      if reported.withLock({ $0 }) < last { break }
      #expect(throws: SatchelError.self) { try result.get() }
      #expect(reported.withLock { $0 } == last, "it is not asked again")
      try checkSound(fixture, one, other, "progress \(number)")
      number += 1
    }
    #expect(number > 5)
  }

  @Test("before it begins") func beforeBegins() throws {
    let fixture = try SyncFixture()
    let one = try fixture.device()
    try one.upsert([try SyncFixture.photo(1, 1)])
    let error = #expect(throws: SatchelError.self) {
      try fixture.sync(one) { $0.cancellation = Cancellation { true } }
    }
    #expect(error?.code == .cancelled)
    #expect(fixture.store.requests.isEmpty)
  }
}
