import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelRecords

/// Compares the collection's ledger with a simple model in memory.
@Suite("The ledger of a collection")
struct RecordLedgerTests {
  private static let ids = ["a", "b", "ü", "d"]

  private func envelope(_ id: String, _ document: String?, _ revision: Int64) throws -> [UInt8] {
    let content = RecordContent(
      document: document.map { Array($0.utf8) }, revision: revision, created: 5, modified: 1000 + revision)
    return RecordEnvelope(content, id: id, version: 1, writer: "other", on: nil).bytes
  }

  @Test("random steps leave the ledger and the model in the same state", arguments: 1...12)
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf()
    let real = try shelf.collection("courses", indexes: [RecordIndex("n")])
    let model = RecordLedgerModel(writer: "one")
    try step(real, model) { ledger in try put(ledger, "a", #"{"n":0}"#) }
    let user = try UserID("anna")
    #expect(try real.binding().user == nil)
    try real.begin(user: user)
    try model.begin(user: user)
    try real.begin(user: user)
    #expect(throws: SatchelError.self) { try real.begin(user: UserID("berta")) }
    #expect(try real.binding().user == "anna" && !real.binding().writer.isEmpty)
    for number in 1...250 {
      let id = Self.ids.randomElement(using: &random) ?? "a"
      let text = #"{"n":\#(Int.random(in: 0..<4, using: &random))}"#
      let document: String? = Int.random(in: 0..<4, using: &random) == 0 ? nil : text
      let bytes = try envelope(id, document, Int64.random(in: 1..<30, using: &random))
      let tag = try #require(ETag("\"\(number)\""))
      let isLost = Bool.random(using: &random)
      let choice = Int.random(in: 0..<14, using: &random)
      try step(real, model) { ledger in
        let state = try ledger.state(of: id)
        // What was taken must be what the other side wrote.
        let content = try RecordEnvelope(parsing: bytes, id: id).content
        switch choice {
        case 0...2: try put(ledger, id, text)
        case 3: try delete(ledger, id)
        case 4, 5: try ledger.noteSending(id, sequence: state.pending ?? 99, envelope: bytes)
        case 6: try ledger.forgetSending(id, sequence: state.sending?.sequence ?? 99)
        case 7, 8: try ledger.settle(id, sequence: state.sending?.sequence ?? 99, etag: tag)
        case 9:
          try ledger.take(
            id, stamp: state.stamp, envelope: bytes, etag: tag, taking: .replace(content),
            isLost: isLost && state.local != nil)
        case 10:
          try ledger.take(
            id, stamp: state.stamp, envelope: bytes, etag: tag, taking: .merge(content), isLost: false)
        case 11:
          guard state.local != nil else { return }
          try ledger.ask(id, stamp: state.stamp, envelope: bytes, etag: tag)
        case 12:
          guard state.base != nil else { return }
          try ledger.renew(id, stamp: state.stamp)
        default:
          try ledger.fail(id, error: SatchelError(.io, "no"), attempts: number, retryAt: Int64(number))
        }
      }
      try compare(real, model)
    }
    #expect(throws: SatchelError.self) {
      var stale = try real.state(of: "a").stamp
      stale.pending = (stale.pending ?? 0) + 1
      try real.take(
        "a", stamp: stale, envelope: try envelope("a", "{}", 1), etag: try #require(ETag("x")),
        taking: .agree,
        isLost: false)
    }
    try shelf.expectSound()
    try real.detach()
    #expect(try real.binding().user == nil)
    #expect(try real.list().allSatisfy { $0.syncStatus == .local })
  }

  /// Runs the same step on both; either both succeed, or both fail.
  private func step(
    _ real: RecordCollection, _ model: RecordLedgerModel, _ body: (any RecordLedger) throws -> Void
  ) throws {
    func outcome(_ ledger: any RecordLedger) -> SatchelError.Code? {
      do {
        try body(ledger)
        return nil
      } catch {
        return (error as? SatchelError)?.code ?? .internal
      }
    }
    #expect(outcome(real) == outcome(model))
  }

  private func put(_ ledger: any RecordLedger, _ id: String, _ text: String) throws {
    if let model = ledger as? RecordLedgerModel { return try model.put(id, Array(text.utf8), now: 0) }
    try (ledger as? RecordCollection)?.put(id, text: text)
  }

  private func delete(_ ledger: any RecordLedger, _ id: String) throws {
    if let model = ledger as? RecordLedgerModel { return try model.delete(id, now: 0) }
    try (ledger as? RecordCollection)?.delete(id)
  }

  /// Sequences and times differ; what they mean does not.
  private func compare(_ real: RecordCollection, _ model: RecordLedgerModel) throws {
    for id in Self.ids {
      let (one, other) = (try real.state(of: id), try model.state(of: id))
      #expect(one.local?.document == other.local?.document, "\(id)")
      #expect(one.local?.isDeleted == other.local?.isDeleted, "\(id)")
      #expect(one.local?.revision == other.local?.revision, "\(id)")
      #expect((one.pending == nil) == (other.pending == nil), "\(id)")
      #expect(one.base == other.base && one.etag == other.etag && one.conflict == other.conflict, "\(id)")
      #expect(one.sending?.envelope == other.sending?.envelope && one.attempts == other.attempts, "\(id)")
      let status = try real.get(id)?.syncStatus
      let expected: RecordSyncStatus =
        other.conflict != nil ? .conflict : other.pending != nil ? .pending : .synced
      if other.local?.document != nil { #expect(status == expected, "\(id)") }
    }
    #expect(try real.conflicts().map(\.record) == model.conflicts().map(\.record))
    #expect(try real.conflicts().map { $0.kind == .open } == model.conflicts().map(\.isOpen))
    var marks: [RecordMark] = []
    var cursor: RecordCursor?
    repeat {
      let page = try real.marks(from: cursor, limit: 2)
      marks += page.marks
      cursor = page.next
    } while cursor != nil
    #expect(try marks == real.marks(of: marks.map(\.id)).compactMap { $0 })
    #expect(Set(marks.map(\.id)) == Set(Self.ids.filter { model.row($0) != nil }))
  }

  @Test("a decision resolves an open conflict, and is uploaded on top of the remote version")
  func resolve() throws {
    for (resolution, expected) in [
      (RecordResolution.keepLocal, #"{"n":1}"#), (.keepRemote, #"{"n":2}"#),
      (.document(["n": 3]), #"{"n":3}"#),
      (.delete, nil),
    ] {
      let shelf = try RecordShelf()
      let courses = try shelf.collection("courses")
      try courses.put("a", text: #"{"n":1}"#)
      try courses.begin(user: UserID("anna"))
      let remote = try envelope("a", #"{"n":2}"#, 9)
      try courses.ask(
        "a", stamp: courses.state(of: "a").stamp, envelope: remote, etag: try #require(ETag("t")))
      #expect(try courses.get("a")?.syncStatus == .conflict)
      let conflict = try #require(try courses.conflicts().first)
      #expect(conflict.local == ["n": 1] && conflict.remote == ["n": 2] && conflict.base == nil)
      #expect(throws: SatchelError.self) { try courses.resolve(conflict.id + 1, .delete) }
      try courses.resolve(conflict.id, resolution)
      #expect(try courses.text("a") == expected)
      let state = try courses.state(of: "a")
      #expect(
        state.base == remote && state.etag == ETag("t") && state.conflict == nil && state.pending != nil)
      #expect(state.local?.revision == 10)
      #expect(try courses.conflicts().isEmpty)
      try shelf.expectSound()
    }
  }

  @Test("content that a conflict discarded can be written again")
  func lost() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    try courses.put("a", text: #"{ "n" : 1 }"#)
    try courses.begin(user: UserID("anna"))
    let remote = try envelope("a", nil, 9)
    let content = try RecordEnvelope(parsing: remote, id: "a").content
    try courses.take(
      "a", stamp: courses.state(of: "a").stamp, envelope: remote, etag: try #require(ETag("t")),
      taking: .replace(content), isLost: true)
    #expect(try courses.get("a") == nil)
    let conflict = try #require(try courses.conflicts().first)
    #expect(conflict.kind == .lost && conflict.local == ["n": 1] && conflict.remote == nil)
    try courses.resolve(conflict.id, .keepLocal)
    #expect(try courses.text("a") == #"{ "n" : 1 }"#)
    #expect(try courses.get("a")?.syncStatus == .pending)
    #expect(try courses.get("a")?.revision == 10 && courses.conflicts().isEmpty)
    try shelf.expectSound()
  }
}
