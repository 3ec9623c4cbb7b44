import Foundation
import Satchel
import SatchelTesting

/// Everything that an app does with a store, done with one that cannot be trusted: each call may fail with an error of
/// the library, and with nothing else.
final class StoreExercise {
  private let fixture: HostileFixture
  private let path: String
  private let limit: UInt32
  private let note: (String) -> Void
  /// Calls that failed as they must not.
  private(set) var faults: [String] = []
  /// The findings in the file when it was opened.
  private(set) var findings: [StoreFinding] = []
  private(set) var refusal: SatchelError?
  /// Of the recovered store.
  private(set) var remaining: [StoreFinding] = []
  private(set) var report: RecoveryReport?

  /// - Parameters:
  ///   - limit: seconds that a call may take, after which the process dies
  ///   - note: called with the name of the next operation
  init(_ fixture: HostileFixture, _ path: String, limit: UInt32, note: @escaping (String) -> Void) {
    self.fixture = fixture
    self.path = path
    self.limit = limit
    self.note = note
  }

  @discardableResult
  private func attempt<Result>(_ what: String, _ body: () throws -> Result) -> Result? {
    note(what)
    alarm(limit)
    defer { alarm(0) }
    do {
      return try body()
    } catch let error as SatchelError {
      if error.code == .internal { faults.append("\(what): internal: \(error.message)") }
      if what.hasPrefix("open") { refusal = error }
    } catch is JSONError {
      // A damaged document that the caller decodes.
      faults.append("\(what): a JSONError")
    } catch {
      faults.append("\(what): \(error)")
    }
    return nil
  }

  func run(recovering: Bool = true) {
    if let store = attempt("open", { try HostileFixture.open(path) }) {
      findings = attempt("check", { try store.check() }) ?? []
      read(store, "")
      write(store)
      attempt("check again") { try store.check() }
      attempt("close") { try store.close() }
    }
    guard recovering else { return }
    let target = path + ".recovered"
    report = attempt("recover") { try Store.recover(path, into: target) }
    guard report != nil else { return }
    if let store = attempt("open recovered", { try HostileFixture.open(target) }) {
      remaining = attempt("check recovered", { try store.check() }) ?? []
      read(store, "recovered ")
      write(store)
      attempt("close recovered") { try store.close() }
    } else {
      faults.append("the recovered store cannot be opened: \(refusal?.message ?? "")")
    }
  }

  private func read(_ store: Store, _ which: String) {
    for json in [HostileFixture.shanghai, HostileFixture.beijing] {
      guard let place = try? Location(json: json) else { continue }
      attempt(which + "sections") { try store.catalogue.sections(at: place) }
      attempt(which + "own sections") { try store.catalogue.sections(at: place, inherit: false) }
      for section in ["cuisine", "sights"] {
        attempt(which + "load") { try store.catalogue.load(section, at: place, allowExpired: true) }
      }
      attempt(which + "plan") { try store.catalogue.plan(for: place) }
      attempt(which + "search") { try store.catalogue.search("name of", at: place) }
      attempt(which + "nearby") {
        try store.catalogue.sections(at: Location(latitude: 31.2001, longitude: 121.5))
      }
      attempt(which + "locate") { try store.catalogue.locate(latitude: 31.2, longitude: 121.5, within: 1e6) }
      attempt(which + "has cached") { try store.catalogue.hasCached(place) }
      attempt(which + "entity") { try store.catalogue.entity("cuisine:a", at: place) }
    }
    attempt(which + "active") { try store.catalogue.activeLocation() }
    attempt(which + "entities") { try store.catalogue.entities(of: "cuisine") }
    attempt(which + "contexts") { try store.catalogue.contexts() }
    attempt(which + "regions") { try store.catalogue.regions.list() }
    attempt(which + "statistics") { try store.statistics() }
    attempt(which + "info") { try store.info() }

    attempt(which + "stories") {
      let library = try store.stories(in: fixture.stories)
      _ = try library.loadAll()
      var query = StoryQuery()
      query.search = "door"
      _ = try library.select(query)
      _ = try library.tags()
      _ = try library.story("one", checked: true)
      _ = try library.progress(of: "one")
      _ = try library.begun()
    }
    if let photos = attempt(which + "photos", { try store.photos(in: fixture.folder.path + "/photos") }) {
      attempt(which + "photo count") { try photos.count() }
      attempt(which + "photo status") { try photos.status() }
      attempt(which + "photo query") { try photos.query() }
      attempt(which + "photos by date") {
        try photos.query(PhotoQuery(json: ["from": 1_600_000_000, "to": 1_600_100_000]))
      }
      attempt(which + "photo conflicts") { try photos.conflicts() }
      attempt(which + "photo changes") { try photos.changes() }
      for shard in Shard.Index.all { attempt(which + "export") { try photos.exportShard(shard) } }
      attempt(which + "photo") {
        try photos.photo(try MD5.list(json: [HostileFixture.photo(5, 0)["md5"] ?? .null])[0])
      }
    }
    if let page = attempt(which + "assets", { try store.assets.list() }) {
      for entry in page.assets {
        attempt(which + "asset") {
          let asset = try Asset(sha256: entry.sha256 ?? "")
          _ = try store.assets.open(asset, verifying: true).read(100, at: 0)
          _ = try store.assets.info(of: asset)
        }
      }
    }
    attempt(which + "asset by URL") { try store.assets.bytes(of: Asset(url: "https://example.com/page")) }
    attempt(which + "verify assets") { try store.assets.verify() }
    attempt(which + "collections") { try store.collections() }
    if let places = attempt(which + "places", { try store.records("places") }) {
      attempt(which + "search records") { try places.search("place a", limit: 50) }
      attempt(which + "records near") { try places.near(latitude: 10, longitude: 1, within: 1_000_000) }
    }
    for name in ["courses", "teachers", "places"] {
      guard let records = attempt(which + "records", { try store.records(name) }) else { continue }
      attempt(which + "list") { try records.list() }
      attempt(which + "list in order") {
        try records.list(RecordQuery(order: [.init("credits", descending: true)], limit: 20))
      }
      attempt(which + "list where") { try records.list(RecordQuery(json: ["where": ["name": "Course 4 0"]])) }
      attempt(which + "record count") { try records.count() }
      attempt(which + "get") { try records.get("c4") }
      attempt(which + "record conflicts") { try records.conflicts() }
    }
    attempt(which + "state") {
      try store.state.setKey(Array(repeating: 7, count: 32))
      _ = try store.state.get("theme")
      _ = try store.state.get("token")
    }
    attempt(which + "state keys") { try store.state.keys() }
    attempt(which + "list items") { try store.state.list("history", limit: 10).items() }
    attempt(which + "set") { try store.state.set(named: "seen").values() }
    attempt(which + "scores") { try store.state.scores("likes").all() }
    attempt(which + "sensitive state") {
      _ = try store.state.list("hidden").items()
      _ = try store.state.set(named: "hidden").values()
      _ = try store.state.scores("hidden").all()
    }
  }

  private func write(_ store: Store) {
    attempt("put asset") {
      let asset = try store.assets.put(Array("another picture".utf8))
      _ = try store.assets.variant(of: asset, named: "thumb") { _ in (Array("small".utf8), nil) }
      _ = try store.assets.fetch([Asset(url: "https://example.com/page")]) { _, _ in .notModified }
    }
    attempt("prune assets") { try store.assets.prune(maxBytes: 0) }
    for json in [HostileFixture.shanghai, HostileFixture.beijing] {
      guard let place = try? Location(json: json) else { continue }
      attempt("refresh") { try store.catalogue.refresh(place, from: HostileFixture.offline) }
      attempt("persist") { try store.catalogue.persist(HostileFixture.section("cuisine", 9), at: place) }
      attempt("persist new") { try store.catalogue.persist(HostileFixture.section("new", 9), at: place) }
      attempt("edit") {
        try store.catalogue.persist(
          [
            "section": "sights", "action": "edit", "config": ["operation": "append", "target_path": "items"],
            "content": ["more": 1],
          ], at: place)
      }
    }
    attempt("set active") { try store.catalogue.setActiveLocation(nil) }
    attempt("export region") { try store.catalogue.regions["trip"]?.export(to: path + ".exported") }
    attempt("delete region") { try store.catalogue.regions["trip"]?.delete() }
    attempt("refresh") {
      let library = try store.stories(in: fixture.stories)
      try library.markPurchased("two")
      try library.move("one", to: library.start(of: "one").id)
      _ = try library.refresh()
    }
    if let photos = attempt("photos", { try store.photos(in: fixture.folder.path + "/photos") }) {
      attempt("upsert") { try photos.upsert(json: .array((50..<70).map { HostileFixture.photo($0, 3) })) }
      attempt("delete photo") {
        try photos.delete(MD5.list(json: [HostileFixture.photo(7, 0)["md5"] ?? .null]))
      }
      attempt("claim") { try photos.claimBackup() }
      attempt("queue") {
        try photos.queueBackup(MD5.list(json: [HostileFixture.photo(9, 0)["md5"] ?? .null])[0])
      }
      attempt("import") { try photos.importShard(Shard.Index.all[4], photos.exportShard(Shard.Index.all[3])) }
      attempt("sync photos") {
        let remote = try DirectoryStore(path: fixture.remote)
        return try photos.sync(with: remote, user: UserID("ada"))
      }
    }
    if let courses = attempt("declare", { try HostileFixture.courses(store) }) {
      for number in [1, 7, 40, 41] {
        attempt("put") { try courses.put("c\(number)", ["name": .string("New \(number)"), "teacher": "t1"]) }
      }
      attempt("delete") { try courses.delete("c5") }
      attempt("sync") {
        let remote = try DirectoryStore(path: fixture.remote)
        return try store.sync(with: remote, user: UserID("ada"))
      }
    }
    if let places = attempt("declare places", { try HostileFixture.places(store) }) {
      for number in 60..<80 {
        attempt("put place") {
          try places.put("p\(number)", ["name": "Elsewhere", "at": ["lat": 1.0, "lon": 2.0]])
        }
      }
      attempt("delete place") { try places.delete("p3") }
      attempt("search places") { try places.search("elsewhere") }
      attempt("near places") { try places.near(latitude: 1, longitude: 2, within: 1000) }
    }
    attempt("cascade") { try store.records("teachers").delete("t2") }
    attempt("migrate") {
      try store.records(
        "courses", version: 3,
        migrations: [
          .steps([try MigrationStep(json: ["remove": ["path": "old"]])]),
          .steps([try MigrationStep(json: ["remove": ["path": "older"]])]),
        ])
    }
    for version in [1, 3] {
      attempt("declare state \(version)") {
        try store.state.declare(StateDeclaration(version: version, migrations: [.steps([]), .steps([])]))
      }
    }
    attempt("set state") {
      try store.state.set("theme", "light")
      try store.state.list("history", limit: 3).push("new")
      _ = try store.state.set(named: "seen").add("b")
      try store.state.scores("likes").add("tea", 0.1)
    }
    attempt("change sensitive state") {
      try store.state.list("hidden", limit: 3).push("new")
      _ = try store.state.set(named: "hidden").add("e")
      try store.state.scores("hidden").add("d", 0.1)
      _ = try store.state.flush()
    }
    attempt("prune") {
      var options = PruneOptions()
      options.unreferenced = true
      options.contextsUnusedFor = 0
      return try store.catalogue.prune(options)
    }
    attempt("backup") { try store.backup(to: path + ".backup") }
  }
}
