import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Stores that are known to heed conditions")
struct ProbedStoresTests {
  let directory: TemporaryDirectory
  let clock = Guarded<Int64>(1_700_000_000_000)

  init() throws { directory = try TemporaryDirectory() }

  /// The satchel file, as another process opens it.
  private func open() throws -> Database {
    var options = StoreOptions()
    options.durability = .relaxed
    let clock = clock
    options.clock = Clock { clock.withLock { $0 } }
    return try Database.open(
      path: directory.path + "/satchel", options: options,
      migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }

  /// How many requests it takes to be sure of a store.
  private func requests(_ store: any ObjectStore, below prefix: String = "catalogs/anna/") throws -> Int64 {
    let database = try open()
    defer { try? database.close() }
    let meter = MeteredStore(store)
    try ProbedStores(database).check(store, asking: meter, under: ObjectPrefix(prefix))
    return meter.traffic.requests
  }

  private func master(_ name: String = "master") throws -> DirectoryStore {
    try DirectoryStore(path: "\(directory.path)/\(name)")
  }

  @Test("another process asks nothing again, but of another place")
  func remembered() throws {
    #expect(try requests(master()) > 0)
    #expect(try requests(master()) == 0)
    #expect(try requests(DirectoryStore(path: directory.path + "/./master/")) == 0)
    #expect(try requests(master(), below: "catalogs/ben/") > 0)
    #expect(try requests(master("other")) > 0)
  }

  @Test("it is asked again after 30 days, and when the clock was wrong")
  func expires() throws {
    #expect(try requests(master()) > 0)
    clock.withLock { $0 += ProbedStores.validity - 1 }
    #expect(try requests(master()) == 0)
    clock.withLock { $0 += 1 }
    #expect(try requests(master()) > 0)
    clock.withLock { $0 -= 1000 }
    #expect(try requests(master()) > 0, "it passed in the future")
    #expect(try requests(master()) == 0)
  }

  @Test("what failed is asked again each time")
  func failures() throws {
    let bad = NamedStore(ForgetfulStore(try master(), .both), identity: "bad")
    for _ in 0..<2 {
      #expect { try requests(bad) } throws: { ($0 as? SatchelError)?.code == .invalid }
    }
    #expect(try requests(NamedStore(master(), identity: "bad")) > 0)
    #expect(try requests(NamedStore(master(), identity: "bad")) == 0)
  }

  @Test("a store that cannot be known again is asked once while it lives, and never written down")
  func nameless() throws {
    let inner = try master()
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

  @Test("what a bucket says of itself tells all that matters, and no credentials")
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
