import Satchel
import Testing

/// The photo catalogue in the sync of a whole store.
struct StorePhotosTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)

  init() throws {
    devices = try SyncDevices()
    one = try devices.store("one")
    two = try devices.store("two")
  }

  private func photo(_ last: Int, _ name: String) throws -> Photo {
    let md5 = try #require(MD5(String(repeating: "4", count: 31) + String(last, radix: 16)))
    return Photo(md5: md5, filename: name, size: 1, photodate: 2, modified: 3)
  }

  // The catalogue stayed without a user until a sync found something on either side.
  @Test("an empty catalogue is bound by its first sync") func emptyCatalogue() throws {
    let photos = try one.photos(in: "/photos")
    #expect(try photos.sync(with: devices.remote, user: devices.user).isUnchanged)
    #expect(try photos.status().user == devices.user.text)
    #expect(try devices.sync(one).photos?.isUnchanged == true)
    try photos.upsert([photo(1, "a.jpg")])
    #expect(try devices.sync(one).photos?.uploaded.map(\.number) == [4])
    let others = try two.photos(in: "/photos")
    #expect(try others.sync(with: devices.remote, user: devices.user).downloaded.map(\.number) == [4])
  }

  @Test("photos follow the declared policy", arguments: [nil, .remoteWins, .merge] as [ConflictPolicy?])
  func declaredPolicy(policy: ConflictPolicy?) throws {
    let stores = [one, two]
    for store in stores {
      let photos = try store.photos(in: "/photos", onConflict: policy)
      _ = try photos.sync(with: devices.remote, user: devices.user)
      try photos.upsert([photo(0, "both.jpg")])
      try devices.sync(store)
    }
    for (number, store) in stores.enumerated() {
      // Not named again: it stays declared.
      try store.photos(in: "/photos").upsert([photo(0, "\(number).jpg"), photo(number + 1, "own.jpg")])
    }
    try devices.sync(one)
    let report = try #require(try devices.sync(two).photos)
    #expect(report.conflicts.map(\.number) == [4])
    #expect(report.conflictRows == (policy == .merge ? 0 : 1))
    let photos = try two.photos(in: "/photos")
    #expect(try photos.count() == 3)
    #expect(try photos.photo(photo(0, "").md5)?.photo.filename == (policy == .merge ? "1.jpg" : "0.jpg"))
    #expect(try photos.onConflict() == policy ?? .remoteWins)
  }

  @Test("other policies are refused", arguments: [ConflictPolicy.localWins, .newestWins, .ask])
  func refusedPolicy(policy: ConflictPolicy) throws {
    let error = #expect(throws: SatchelError.self) { try one.photos(in: "/photos", onConflict: policy) }
    #expect(error?.code == .invalid && error?.message.contains("on_conflict") == true)
    #expect(try one.photos(in: "/photos").onConflict() == .remoteWins)
  }
}
