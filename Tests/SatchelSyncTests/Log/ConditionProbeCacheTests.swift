import SatchelRemoteTesting
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelRemote
import SatchelSync

@Suite("The cache of probes for conditional writes")
struct ConditionProbeCacheTests {
  let directory: TemporaryDirectory
  let clock = Locked<Int64>(1_700_000_000_000)

  init() throws { directory = try TemporaryDirectory() }

  /// Opens the satchel file, as another process does.
  private func open() throws -> Database {
    var options = StoreOptions()
    options.durability = .relaxed
    let clock = clock
    options.clock = Clock { clock.withLock { $0 } }
    return try Database.open(
      path: directory.path + "/satchel", options: options,
      migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }

  /// Returns the number of requests that a check needs.
  private func requests(
    _ store: any ObjectStore, user: String = "anna", below prefix: String = "catalogs/anna/"
  ) throws -> Int64 {
    let database = try open()
    defer { try? database.close() }
    let meter = MeteredStore(store)
    try ConditionProbeCache(database).check(
      store, through: meter, for: UserID(user), under: ObjectPrefix(prefix))
    return meter.traffic.requests
  }

  private func remote(_ name: String = "remote") throws -> DirectoryStore {
    try DirectoryStore(path: "\(directory.path)/\(name)")
  }

  @Test("another process does not probe again, except for another user")
  func remembered() throws {
    #expect(try requests(remote()) > 0)
    #expect(try requests(remote()) == 0)
    #expect(try requests(DirectoryStore(path: directory.path + "/./remote/")) == 0)
    #expect(try requests(remote(), below: "records/anna/") == 0)
    #expect(try requests(remote(), user: "ben", below: "catalogs/ben/") > 0)
    #expect(try requests(remote("other")) > 0)
  }

  @Test("a store is probed again after 30 days, and when the clock was wrong")
  func expires() throws {
    #expect(try requests(remote()) > 0)
    clock.withLock { $0 += ConditionProbeCache.validity - 1 }
    #expect(try requests(remote()) == 0)
    clock.withLock { $0 += 1 }
    #expect(try requests(remote()) > 0)
    clock.withLock { $0 -= 1000 }
    #expect(try requests(remote()) == 0)
    clock.withLock { $0 -= 3 * 86_400_000 }
    #expect(try requests(remote()) > 0, "it passed in the future")
    #expect(try requests(remote()) == 0)
  }

  @Test("a failure is not cached")
  func failures() throws {
    let bad = NamedStore(ForgetfulStore(try remote(), .both), identity: "bad")
    for _ in 0..<2 {
      #expect { try requests(bad) } throws: { ($0 as? SatchelError)?.code == .invalid }
    }
    #expect(try requests(NamedStore(remote(), identity: "bad")) > 0)
    #expect(try requests(NamedStore(remote(), identity: "bad")) == 0)
  }

  @Test("a store without an identity is probed once per instance, and never stored")
  func nameless() throws {
    let inner = try remote()
    let store = CallbackStore(HostCalls(inner))
    #expect(store.identity == nil)
    #expect(try requests(store) > 0)
    #expect(try requests(store) == 0)
    #expect(try requests(CallbackStore(HostCalls(inner))) > 0)
    let database = try open()
    let tables = try database.read {
      try $0.number("SELECT count(*) FROM sqlite_schema WHERE name = 'remote_probe'")
    }
    #expect(tables == 0)
  }

  @Test("the identity of a bucket has all relevant options, and no credentials")
  func bucket() throws {
    func identity(
      _ address: String = "https://s3.example", _ bucket: String = "photos", style: S3Endpoint.Style = .path,
      prefix: String? = nil, key: String = "AKIDEXAMPLE"
    ) throws -> String? {
      let endpoint = try S3Endpoint(
        address: address, bucket: bucket, style: style, prefix: try prefix.map { try ObjectKey($0) })
      return try S3Store(
        endpoint: endpoint, credentials: Credentials(accessKey: key, secretKey: "secret-of-anna")
      ).identity
    }
    let all = [
      try identity(), try identity("http://s3.example"), try identity("https://s3.example:8443"),
      try identity(style: .virtualHost), try identity("https://s3.example", "pictures"),
      try identity(prefix: "a/b"),
    ]
    #expect(Set(all).count == all.count && !all.contains(nil))
    #expect(try identity(key: "AKIDOTHER") == identity())
    #expect(all.allSatisfy { $0?.contains("secret") == false && $0?.contains("AKID") == false })
  }
}
