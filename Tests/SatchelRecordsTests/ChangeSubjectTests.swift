import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("The subjects of changes")
struct ChangeSubjectTests {
  private let directory: TemporaryDirectory
  private let store: Store
  private let other: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(path: directory.path + "/changes.satchel")
    other = try Store(path: directory.path + "/changes.satchel")
  }

  /// Returns the changes that `body` makes, as this store and another one on the file report them.
  private func changes(_ count: Int, _ body: () throws -> Void) async throws -> [Change] {
    let received = Mutex<[Change]>([])
    let observation = try store.observe { change in received.withLock { $0.append(change) } }
    defer { observation.cancel() }
    let stream = try other.changes()
    try body()
    let own = received.withLock { $0 }
    var others: [Change] = []
    for await change in stream {
      others.append(change)
      if others.count == count { break }
    }
    #expect(own.allSatisfy(\.isOwn) && others.allSatisfy { !$0.isOwn })
    for position in others.indices { others[position].isOwn = true }
    #expect(own == others)
    return own
  }

  @Test("records of a collection named state are distinguished from state", .timeLimit(.minutes(20)))
  func collectionNamedState() async throws {
    let records = try store.records("state")
    let changes = try await changes(2) {
      try records.put("theme", ["dark": true])
      try store.state.set("theme", "dark")
      try store.state.flush()
    }
    let (record, state) = (try #require(changes.first), try #require(changes.last))
    #expect(record.subject == .records && record.keys == ["state/theme"])
    #expect(record.records.map(\.collection) == ["state"] && record.records.map(\.id) == ["theme"])
    #expect(record.state.isEmpty && record.concerns(collection: "state", id: "theme"))
    #expect(state.subject == .state && state.keys == ["value/theme"])
    #expect(state.state == [Change.StateKey(.value, "theme")])
    #expect(state.records.isEmpty && !state.concerns(collection: "state"))
  }

  @Test("a value and a list with the same name are distinguished", .timeLimit(.minutes(20)))
  func stateKeys() async throws {
    let changes = try await changes(1) {
      try store.state.set("list/a", 1)
      try store.state.list("a").push(1)
      try store.state.set(named: "b/\u{301}c").add(1)
      try store.state.scores("d").add("e", 0.5)
      try store.state.flush()
    }
    #expect(
      changes.map(\.state) == [
        [
          .init(.value, "list/a"), .init(.list, "a"), .init(.set, "b/\u{301}c"), .init(.scores, "d"),
        ]
      ])
  }

  @Test("a record's id may have slashes; very many records are reported by their collection")
  func records() throws {
    let collection = try store.records("notes")
    let received = Mutex<[Change]>([])
    let observation = try store.observe { change in received.withLock { $0.append(change) } }
    try store.batch {
      try collection.put("a/b", [:])
      try collection.put("/\u{301}", [:])
    }
    try store.batch { for number in 0...300 { try collection.put("\(number)", [:]) } }
    observation.cancel()
    let changes = received.withLock { $0 }
    #expect(changes.map { $0.records.map(\.id) } == [["a/b", "/\u{301}"], [nil]])
    #expect(changes.allSatisfy { $0.records.allSatisfy { $0.collection == "notes" } })
    let (named, whole) = (changes[0], changes[1])
    #expect(named.concerns(collection: "notes", id: "a/b") && !named.concerns(collection: "notes", id: "a"))
    #expect(whole.concerns(collection: "notes", id: "a") && !whole.concerns(collection: "note"))
  }

  @Test(
    "sections and entities of the catalogue are distinguished, whatever their names", .timeLimit(.minutes(20))
  )
  func catalogue() async throws {
    let place = try Location(countryCode: "fr")
    let changes = try await changes(2) {
      try store.catalogue.persist(
        [
          "section": "same",
          "content": ["x": ["v": 1, "_storage": ["entity_id": "same", "scope": "global", "ttl_hours": 1]]],
        ], at: place)
      var options = PruneOptions()
      options.expired = false
      options.section = "same"
      try store.catalogue.prune(options)
    }
    #expect(changes.map(\.sections) == [["same"], ["same"]])
    #expect(changes.map(\.entities) == [["same"], ["same"]])
    #expect(changes.map(\.place) == ["fr", nil] && changes.allSatisfy { $0.directory == nil })
  }

  @Test("photos are reported by their hashes, very many by their shards; stories by their ids")
  func photosAndStories() throws {
    let photos = try store.photos(in: directory.path + "/pictures")
    let received = Mutex<[Change]>([])
    let observation = try store.observe { change in received.withLock { $0.append(change) } }
    func photo(_ number: Int) throws -> Photo {
      let digits = String(number, radix: 16)
      let md5 = try #require(MD5("a" + String(repeating: "0", count: 31 - digits.count) + digits))
      return Photo(md5: md5, filename: "\(number).jpg", size: 1, photodate: 1, modified: 1)
    }
    try photos.upsert([photo(1)])
    try photos.upsert((1...5000).map { try photo($0 + 1) })
    try directory.write(":: StoryTitle\nWell\n\n:: Start\nThe end.\n", to: "tales/well.twee")
    let library = try store.stories(in: directory.path + "/tales")
    _ = try library.refresh()
    observation.cancel()
    let changes = received.withLock { $0 }
    #expect(changes.map(\.subject) == [.photos, .photos, .stories])
    #expect(try changes[0].photos == [photo(1).md5] && changes[0].shards.isEmpty)
    #expect(changes[1].photos.isEmpty && changes[1].shards.map(\.description) == ["a"])
    #expect(changes[0].directory == changes[1].directory && changes[2].directory == nil)
    #expect(changes[2].stories.count == 1 && changes[2].photos.isEmpty && changes[0].stories.isEmpty)
  }
}
