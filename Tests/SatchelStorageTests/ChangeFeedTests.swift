import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SatchelStorage

@Suite("Hearing of changes")
struct ChangeFeedTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  private func tell(_ database: Database, _ keys: String..., place: String? = nil) throws {
    try database.write { transaction in
      try transaction.add(keys.first ?? "")
      transaction.note(subject: "test", keys: keys, place: place)
    }
  }

  @Test("own changes are told after the commit, on the thread that wrote, before the call returns")
  func own() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    let heard = Heard()
    let thread = pthread_self()
    let subscription = try database.observe { change in
      #expect(pthread_equal(thread, pthread_self()) != 0)
      #expect((try? other.read { try $0.items() }) == Int64(change.revision))
      heard.add(change)
    }
    try tell(database, "a", "é\n", place: "cn_shanghai")
    #expect(
      heard.all == [
        Change(subject: "test", keys: ["a", "é\n"], place: "cn_shanghai", isOwn: true, revision: 1)
      ])
    try tell(database, "b")
    #expect(heard.keys == ["a", "é\n", "b"])
    // The watcher has had its turns meanwhile: own changes are not told again.
    usleep(400_000)
    #expect(heard.all.count == 2)
    subscription.cancel()
  }

  @Test("a write that notes nothing tells nothing")
  func silent() throws {
    let database = try fixture.open()
    let heard = Heard()
    let subscription = try database.observe { heard.add($0) }
    try database.write { try $0.add("x") }
    #expect(heard.all.isEmpty)
    subscription.cancel()
  }

  @Test("changes of another handle come once each and in order")
  func others() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    try tell(other, "before anyone listens")
    let heard = Heard()
    let subscription = try database.observe { heard.add($0) }
    try tell(other, "a", place: "p")
    #expect(heard.reaches(1))
    #expect(heard.all == [Change(subject: "test", keys: ["a"], place: "p", isOwn: false, revision: 2)])
    for number in 0..<300 {
      try tell(other, "\(number)")
      if number % 10 == 0 { try tell(database, "own") }
    }
    #expect(heard.reaches(331))
    usleep(300_000)
    let foreign = heard.all.filter { !$0.isOwn }
    #expect(foreign.flatMap(\.keys) == ["a"] + (0..<300).map { "\($0)" })
    #expect(foreign.map(\.revision) == foreign.map(\.revision).sorted())
    #expect(heard.all.count == 331)
    subscription.cancel()
  }

  @Test("when more was written than the log keeps, everything may have changed")
  func overflow() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    let heard = Heard()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Atomic(true)
    let subscription = try database.observe { change in
      heard.add(change)
      if isFirst.exchange(false, ordering: .relaxed) {
        entered.signal()
        mayLeave.wait()
      }
    }
    try tell(other, "first")
    entered.wait()
    // The listener is slow, so that the log runs over behind its back.
    let commits = Int(ChangeLog.kept + 2 * ChangeLog.trimInterval)
    for number in 1...commits { try tell(other, "\(number)") }
    mayLeave.signal()
    let last = "\(commits)"
    let end = Date() + 120
    while heard.all.last?.keys != [last], Date() < end { usleep(5000) }
    let keys = heard.all.map(\.keys)
    #expect(keys.first == ["first"])
    #expect(keys.dropFirst().first == ["*"])
    #expect(keys.filter { $0 == ["*"] }.count == 4)
    #expect(keys.last == [last])
    #expect(keys.count >= 2 + Int(ChangeLog.kept))
    #expect(keys.count < commits)
    #expect(
      try other.read { try $0.number("SELECT count(*) FROM change") } <= ChangeLog.kept
        + ChangeLog.trimInterval)
    subscription.cancel()
  }

  @Test("a listener may cancel itself while it listens; others go on hearing")
  func cancelInside() throws {
    let database = try fixture.open()
    let (one, other) = (Heard(), Heard())
    let held = Mutex<ChangeFeed.Subscription?>(nil)
    let subscription = try database.observe { change in
      one.add(change)
      held.withLock { $0 }?.cancel()
    }
    held.withLock { $0 = subscription }
    let second = try database.observe { other.add($0) }
    try tell(database, "a")
    try tell(database, "b")
    #expect(one.keys == ["a"])
    #expect(other.keys == ["a", "b"])
    subscription.cancel()
    second.cancel()
    try tell(database, "c")
    #expect(other.keys == ["a", "b"])
  }

  @Test("a listener may write, and hears of that too")
  func writeInside() throws {
    let database = try fixture.open()
    let heard = Heard()
    let subscription = try database.observe { change in
      heard.add(change)
      guard change.keys == ["a"] else { return }
      try? database.write { $0.note(subject: "test", keys: ["b"], place: nil) }
    }
    try tell(database, "a")
    #expect(heard.keys == ["a", "b"])
    subscription.cancel()
  }

  @Test("cancelling on another thread does not wait, and lets go of the listener when it has heard")
  func cancelElsewhere() throws {
    final class Token: Sendable {}
    let database = try fixture.open()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    weak var released: Token?
    var subscription: ChangeFeed.Subscription?
    do {
      let token = Token()
      released = token
      subscription = try database.observe { _ in
        entered.signal()
        mayLeave.wait()
        withExtendedLifetime(token) {}
      }
    }
    let writing = Background { try database.write { $0.note(subject: "test", keys: ["a"], place: nil) } }
    entered.wait()
    subscription?.cancel()
    #expect(released != nil, "let go of while it was being called")
    mayLeave.signal()
    try writing.finish()
    #expect(released == nil)
  }

  @Test("a subscription that is given up is cancelled")
  func givenUp() throws {
    let database = try fixture.open()
    let heard = Heard()
    var subscription: ChangeFeed.Subscription? = try database.observe { heard.add($0) }
    try tell(database, "a")
    withExtendedLifetime(subscription) {}
    subscription = nil
    try tell(database, "b")
    #expect(heard.keys == ["a"])
  }

  @Test(
    "closing waits for a listener that is being told, and nothing is told afterwards",
    arguments: [true, false])
  func closeDuringDelivery(isOwn: Bool) throws {
    let database = try fixture.open()
    let writer = isOwn ? database : try fixture.open()
    let heard = Heard()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let subscription = try database.observe { change in
      entered.signal()
      mayLeave.wait()
      heard.add(change)
    }
    let writing = Background { try writer.write { $0.note(subject: "test", keys: ["a"], place: nil) } }
    entered.wait()
    let closing = Background { try database.close() }
    #expect(!closing.ends(within: 0.2), "closed while a listener was being told")
    mayLeave.signal()
    try closing.finish()
    try writing.finish()
    #expect(heard.keys == ["a"])
    if !isOwn {
      try tell(writer, "b")
      usleep(300_000)
      #expect(heard.keys == ["a"])
    }
    #expect(try code { _ = try database.observe { _ in } } == .closed)
    subscription.cancel()
  }
}
