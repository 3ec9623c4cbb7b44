import Foundation
@testable import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Local columns") struct CatalogueLocalTests {
  let fixture: CatalogueFixture
  init() throws { fixture = try CatalogueFixture() }
  var photos: PhotoCatalogue { fixture.photos }
  let shard = CatalogueFixture.shard
  let photo = CatalogueFixture.photo(1)

  private func isRefused(_ error: any Error, naming words: String...) -> Bool {
    guard let error = error as? SatchelError, error.code == .invalid else { return false }
    return words.allSatisfy { error.message.contains($0) }
  }

  @Test("local columns survive imports, syncs, deletion and adding again, exactly")
  func survives() throws {
    try photos.upsert([photo])
    var metadata = PhotoMetadata()
    metadata.cameraMake = "É, \"x\"\n"
    metadata.latitude = -0.1
    metadata.longitude = 179.99999999999997
    metadata.shutterSpeed = "1/3000"
    metadata.iso = .max
    metadata.thumbnailCachedAt = -5
    try photos.setMetadata(photo.md5) { $0 = metadata }
    try photos.setLocal(
      photo.md5, json: ["orientation": 8, "aperture": .double(.leastNonzeroMagnitude), "starred": false])
    metadata.orientation = 8
    metadata.aperture = .leastNonzeroMagnitude
    try photos.importShard(shard, CatalogueFixture.file([photo]))
    try photos.download(shard, CatalogueFixture.file([photo, CatalogueFixture.photo(2)]))
    try photos.delete([photo.md5])
    #expect(try photos.photo(photo.md5) == nil)
    var edited = photo
    edited.modified += 1
    try photos.download(shard, CatalogueFixture.file([edited]))
    try fixture.reopen()
    let found = try #require(try photos.photo(photo.md5))
    #expect(found.metadata == metadata)
    #expect(!found.isStarred && !found.isLocalOnly)
    try photos.setLocal(photo.md5, json: ["camera_make": .null])
    #expect(try photos.photo(photo.md5)?.metadata.cameraMake == nil)
    #expect(try photos.photo(photo.md5)?.metadata.iso == .max)
  }

  @Test(
    "invalid values are rejected, and nothing is changed",
    arguments: [
      "latitude", "longitude", "orientation", "iso", "aperture", "starred", "camera_make", "unknown",
    ])
  func refused(_ key: String) throws {
    try photos.upsert([photo])
    let value: JSONValue = key == "camera_make" || key == "starred" ? .int(5) : .double(-1e300)
    #expect { try photos.setLocal(photo.md5, json: members(key, value)) } throws: {
      isRefused($0, naming: key)
    }
    #expect(try photos.photo(photo.md5)?.metadata == PhotoMetadata())
    #expect { try photos.setLocal(CatalogueFixture.photo(9).md5, json: [:]) } throws: {
      ($0 as? SatchelError)?.code == .notFound
    }
  }

  @Test("exposure times: strings as they are, numbers as the same time")
  func shutterSpeeds() throws {
    try photos.upsert([photo])
    let given: [(JSONValue, String)] = [
      ("1/200", "1/200"), ("2.5", "2.5"), ("10/25", "10/25"), (.double(0.005), "1/200"),
      (.double(0.3), "0.3"),
      (.int(30), "30"), (.double(1.0 / 3000), "1/3000"),
    ]
    for (value, text) in given {
      try photos.setLocal(photo.md5, json: members("shutter_speed", value))
      #expect(try photos.photo(photo.md5)?.metadata.shutterSpeed == text)
    }
    let wrong: [JSONValue] = [
      "", "1/", "/2", "1/0", "1/2/3", "fast", "-1", "1e5", "1 s", .double(0), .double(-1), .double(1e300),
      .bool(true), .string(String(repeating: "1", count: 33)),
    ]
    for value in wrong {
      #expect { try photos.setLocal(photo.md5, json: members("shutter_speed", value)) } throws: {
        isRefused($0, naming: "shutter_speed")
      }
    }
    #expect { try photos.setLocal(photo.md5, json: ["photodate_source": "file"]) } throws: {
      isRefused($0, naming: "photodate_source")
    }
    #expect(try photos.photo(photo.md5)?.metadata.shutterSpeed == "1/3000")
  }

  private func members(_ key: String, _ value: JSONValue) -> JSONValue {
    var object = JSONObject()
    object["preview_cached_at"] = 1
    object[key] = value
    return .object(object)
  }

  private func state(_ md5: MD5) throws -> [String] {
    let found = try #require(try photos.photo(md5))
    return [found.isStarred ? "starred" : "unstarred", found.backup.rawValue]
  }

  @Test("a star queues the backup, also of a synchronized photo; removing the star removes it from the queue")
  func stars() throws {
    let other = CatalogueFixture.photo(2)
    try photos.download(shard, CatalogueFixture.file([photo]))
    try photos.upsert([other])
    // Synchronizing rows sets no star.
    #expect(try state(photo.md5) == ["unstarred", "not_backed_up"])
    for md5 in [photo.md5, other.md5] {
      try photos.star(md5)
      #expect(try state(md5) == ["starred", "queued"])
    }
    try photos.star(photo.md5, false)
    #expect(try state(photo.md5) == ["unstarred", "not_backed_up"])
    #expect(try photos.claimBackup()?.md5 == other.md5)
    #expect(try photos.claimBackup() == nil)
    try photos.star(photo.md5)
    try photos.setLocal(photo.md5, json: ["starred": .null])
    #expect(try state(photo.md5) == ["unstarred", "not_backed_up"])
    // Of an upload that has begun, or is done, only the star goes.
    try photos.star(other.md5, false)
    #expect(try state(other.md5) == ["unstarred", "uploading"])
    try photos.finishBackup(other.md5)
    #expect(try state(other.md5) == ["unstarred", "uploaded"])
    try photos.star(other.md5)
    #expect(try state(other.md5) == ["starred", "uploaded"])
    try photos.detach()
    #expect(try photos.photo(photo.md5)?.isLocalOnly == true)
  }

  @Test("a queued photo has a star; one that lost it during the upload does not return to the queue")
  func queueAndStar() throws {
    try photos.upsert([photo, CatalogueFixture.photo(2)])
    try photos.queueBackup(photo.md5)
    #expect(try state(photo.md5) == ["starred", "queued"])
    _ = try photos.claimBackup()
    try photos.star(photo.md5, false)
    try photos.releaseLeases()
    #expect(try state(photo.md5) == ["unstarred", "not_backed_up"])
    // A photo that was deleted while it was queued has nothing to upload, and no star.
    try photos.star(photo.md5)
    try photos.delete([photo.md5])
    #expect(try photos.claimBackup() == nil)
    try photos.upsert([photo])
    #expect(try state(photo.md5) == ["unstarred", "not_backed_up"])
  }

  @Test("a backup follows its statuses, and every other transition is rejected by name")
  func steps() throws {
    try photos.upsert([photo])
    let md5 = photo.md5
    #expect { try photos.finishBackup(md5) } throws: { isRefused($0, naming: "not_backed_up", "uploaded") }
    try photos.queueBackup(md5)
    #expect { try photos.queueBackup(md5) } throws: { isRefused($0, naming: "queued") }
    #expect(try photos.claimBackup()?.md5 == md5)
    #expect(try photos.claimBackup() == nil)
    #expect { try photos.queueBackup(md5) } throws: { isRefused($0, naming: "uploading", "queued") }
    fixture.clock.withLock { $0 += 5000 }
    try photos.failBackup(md5, reason: "no network")
    let failed = try #require(try photos.photo(md5))
    #expect(failed.backup == .error && failed.error == "no network" && failed.attempts == 1)
    #expect(failed.lastAttempt == fixture.clock.withLock { $0 })
    try photos.queueBackup(md5)
    #expect(try photos.photo(md5)?.error == nil)
    #expect(try photos.claimBackup()?.attempts == 2)
    try photos.finishBackup(md5)
    #expect(try photos.photo(md5)?.backup == .uploaded)
    #expect { try photos.queueBackup(md5) } throws: { isRefused($0, naming: "uploaded", "queued") }
    #expect(try photos.status().backups == [.uploaded: 1])
  }

  @Test("the photo that was queued first is claimed first; a deleted one is not claimed")
  func order() throws {
    let all = (0..<6).map { CatalogueFixture.photo($0) }
    try photos.upsert(all)
    for number in [3, 1, 5, 0] { try photos.queueBackup(all[number].md5) }
    try photos.delete([all[1].md5])
    #expect(try photos.claimBackup()?.md5 == all[3].md5)
    #expect(try photos.claimBackup()?.md5 == all[5].md5)
    #expect(try photos.claimBackup()?.md5 == all[0].md5)
    #expect(try photos.claimBackup() == nil)
  }

  @Test(
    "leases of a closed catalogue, and of a process that died, return to the queue at their old positions")
  func dead() throws {
    let all = (0..<3).map { CatalogueFixture.photo($0) }
    try photos.upsert(all)
    for photo in all { try photos.queueBackup(photo.md5) }
    let other = try PhotoCatalogue(database: fixture.database, directory: photos.directory)
    #expect(try other.claimBackup()?.md5 == all[0].md5)
    #expect(try photos.claimBackup()?.md5 == all[1].md5)
    try other.close()
    #expect(try photos.claimBackup()?.md5 == all[0].md5)
    #expect(try photos.claimBackup()?.md5 == all[2].md5)
    #expect(try photos.claimBackup() == nil)
    // A process that has ended, one whose id was reused, one before the last boot.
    let now = ProcessIdentity.current
    for (owner, isDead) in [
      ("\(now.boot) 4194304 7 1", true), ("\(now.boot) \(now.number) 1 1", true),
      ("other \(now.number) \(now.start) 1", true), ("nonsense", true),
      ("\(now.boot) \(getppid()) \(ProcessPlatform.start(of: getppid()) ?? "") 1", false),
    ] {
      try fixture.execute("UPDATE photo_local SET lease_owner = '\(owner)' WHERE queued = 1")
      #expect(try photos.claimBackup()?.md5 == (isDead ? all[0].md5 : nil))
    }
  }

  @Test("each photo is claimed by one of the threads on two handles of one file")
  func race() async throws {
    let all = (0..<120).map { CatalogueFixture.photo($0) }
    try photos.upsert(all)
    for photo in all { try photos.queueBackup(photo.md5) }
    let second = try fixture.secondStore()
    let other = try PhotoCatalogue(database: second, directory: photos.directory)
    let claimed = Locked<[MD5]>([])
    await withTaskGroup(of: Void.self) { group in
      for catalogue in [photos, other, photos, other] {
        group.addTask {
          while let photo = try? catalogue.claimBackup() { claimed.withLock { $0.append(photo.md5) } }
        }
      }
    }
    #expect(claimed.withLock { $0.sorted() } == all.map(\.md5).sorted())
    try other.close()
    try second.close()
  }

  // MARK: Processes

  @Test("a separate process claims photos until it is killed")
  func leaseOwner() throws {
    guard let (name, folder) = OtherProcess.role("leaseOwner") else {
      #expect(try photos.claimBackup() == nil)
      return
    }
    let database = try Database.open(
      path: folder + "/photos.satchel", options: StoreOptions(),
      migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    let photos = try PhotoCatalogue(database: database, directory: folder + "/album")
    var claimed: [String] = []
    for _ in 0..<10 { if let photo = try photos.claimBackup() { claimed.append("\(photo.md5)") } }
    let text = claimed.joined(separator: "\n")
    try text.write(toFile: "\(folder)/claimed.\(name)", atomically: true, encoding: .utf8)
    while true { usleep(10_000) }
  }

  @Test("processes claim different photos, and those of a killed process are claimed again")
  func processes() throws {
    let all = (0..<40).map { CatalogueFixture.photo($0) }
    try photos.upsert(all)
    for photo in all { try photos.queueBackup(photo.md5) }
    let processes = try (0..<3).map {
      try OtherProcess("CatalogueLocalTests/leaseOwner", "leaseOwner", "\($0)", fixture.folder)
    }
    let files = (0..<3).map { "\(fixture.folder)/claimed.\($0)" }
    let end = Date() + 60
    while !files.allSatisfy({ FileManager.default.fileExists(atPath: $0) }), Date() < end { usleep(5000) }
    let leases = try files.map { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }
    #expect(Set(leases.joined()).count == 30)
    #expect(processes[0].kill())
    var mine: [String] = []
    while let photo = try photos.claimBackup() { mine.append("\(photo.md5)") }
    // Ten that were not claimed before, and the ten of the killed process.
    #expect(mine.count == 20 && Set(mine).isSuperset(of: leases[0].map(String.init)))
    // The others still ran.
    for process in processes.dropFirst() { #expect(process.kill()) }
  }
}
