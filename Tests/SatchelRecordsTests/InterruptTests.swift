import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("Stopping long reads")
struct InterruptTests {
  private static let count = 20_000
  private let directory: TemporaryDirectory
  private let store: Store
  private let notes: RecordCollection
  private let everything = RecordQuery(.field("n", .greaterOrEqual(0)), order: [.init("n", descending: true)])

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(path: directory.path + "/notes.satchel")
    notes = try store.records("notes")
    try notes.putMany((0..<Self.count).map { ("\($0)", ["n": .int(Int64($0))]) })
  }

  /// The code of the error that `body` throws, if any; made with an interrupt.
  private func code(
    _ interrupt: Interrupt = Interrupt(), _ body: () throws -> Void
  ) throws -> SatchelError.Code? {
    do {
      try interrupt.perform(body)
      return nil
    } catch let error as SatchelError {
      return error.code
    }
  }

  /// The reads that can be stopped, each of all records or pages.
  private func reads(_ store: Store) throws -> [(String, () throws -> Void)] {
    let (notes, everything) = (try store.records("notes"), everything)
    return [
      ("list", { _ = try notes.list(everything) }), ("ids", { _ = try notes.ids(everything) }),
      ("count", { _ = try notes.count(everything) }), ("check", { _ = try store.check() }),
      ("statistics", { _ = try store.statistics() }),
    ]
  }

  @Test("one that another thread cancels")
  func cancelled() throws {
    for (name, read) in try reads(store) {
      let interrupt = Interrupt()
      var found: SatchelError.Code?
      Thread.detachNewThread { interrupt.cancel() }
      while found == nil { found = try code(interrupt, read) }
      #expect(found == .cancelled, "\(name)")
      #expect(interrupt.isCancelled)
      #expect(try code(interrupt, read) == .cancelled, "\(name) later")
    }
    #expect(try notes.count(everything) == Self.count)
  }

  @Test("one that takes longer than the time limit of the store, or of its thread")
  func timedOut() throws {
    var options = StoreOptions()
    options.queryTimeout = 1
    let limited = try Store(path: store.path, options: options)
    for (name, read) in try reads(limited) {
      #expect(try code(Interrupt(), read) == .timedOut, "\(name)")
      #expect(try code(Interrupt(timeout: .never), read) == nil, "\(name)")
    }
    for (name, read) in try reads(store) {
      #expect(try code(Interrupt(), read) == nil, "\(name)")
      #expect(try code(Interrupt(timeout: .milliseconds(1)), read) == .timedOut, "\(name)")
    }
    // Short reads and writes have no limit.
    let theirs = try limited.records("notes")
    #expect(try theirs.get("7") != nil)
    #expect(try theirs.clear() == Self.count)
  }

  @Test("one whose check returns true; the check cannot use the store")
  func checked() throws {
    let answers = Mutex<[SatchelError.Code?]>([])
    let interrupt = Interrupt { [store] in
      let code = Result { try store.info() }.failure.flatMap { $0 as? SatchelError }?.code
      return answers.withLock { answers in
        answers.append(code)
        return answers.count > 1
      }
    }
    var found: SatchelError.Code?
    while found == nil { found = try code(interrupt) { _ = try notes.list(everything) } }
    #expect(found == .cancelled)
    #expect(answers.withLock { $0 } == [.busy, .busy])
    #expect(!interrupt.isCancelled)
  }

  @Test("a batch in which a read was stopped stays open, and its writes are not interrupted")
  func batch() throws {
    try store.begin()
    try notes.put("a", ["n": 1])
    let interrupt = Interrupt(timeout: .milliseconds(1))
    #expect(try code(interrupt) { _ = try notes.list(everything) } == .timedOut)
    let written = try interrupt.perform {
      try notes.putMany((0..<Self.count).map { ("more \($0)", ["n": -1]) })
    }
    #expect(written == Self.count)
    try store.commit()
    #expect(try notes.count() == 2 * Self.count + 1)
    #expect(try store.check().isEmpty)
  }

  @Test("an interrupt applies to its block, and an inner one to the inner block")
  func nested() throws {
    let (outer, inner) = (Interrupt(), Interrupt())
    inner.cancel()
    let found = try outer.perform {
      let found = try code(inner) { _ = try notes.count(everything) }
      return (found, try notes.count(everything))
    }
    #expect(found.0 == .cancelled)
    #expect(found.1 == Self.count)
    #expect(try notes.count(everything) == Self.count)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
