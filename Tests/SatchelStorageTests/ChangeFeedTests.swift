import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("Change notifications")
struct ChangeFeedTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  private func tell(_ database: Database, _ keys: String..., place: String? = nil) throws {
    try database.write { transaction in
      try transaction.add(keys.first ?? "")
      transaction.note(subject: .test, keys: keys, place: place)
    }
  }

  @Test(
    "a handle's own changes are reported after the commit, on the writing thread, before the call returns")
  func own() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    let observed = ObservedChanges()
    let thread = pthread_self()
    let subscription = try database.observe { change in
      #expect(pthread_equal(thread, pthread_self()) != 0)
      #expect((try? other.read { try $0.items() }) == Int64(change.revision))
      observed.add(change)
    }
    try tell(database, "a", "é\n", place: "cn_shanghai")
    #expect(
      observed.all == [
        Change(subject: .test, keys: ["a", "é\n"], place: "cn_shanghai", isOwn: true, revision: 1)
      ])
    try tell(database, "b")
    #expect(observed.keys == ["a", "é\n", "b"])
    // The thread has polled meanwhile: own changes are not reported again.
    usleep(400_000)
    #expect(observed.all.count == 2)
    subscription.cancel()
  }

  @Test("a write that notes no change reports none")
  func silent() throws {
    let database = try fixture.open()
    let observed = ObservedChanges()
    let subscription = try database.observe { observed.add($0) }
    try database.write { try $0.add("x") }
    #expect(observed.all.isEmpty)
    subscription.cancel()
  }

  @Test("changes of another handle are reported once each and in order")
  func others() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    try tell(other, "before anyone listens")
    let observed = ObservedChanges()
    let subscription = try database.observe { observed.add($0) }
    try tell(other, "a", place: "p")
    #expect(observed.reaches(1))
    #expect(observed.all == [Change(subject: .test, keys: ["a"], place: "p", isOwn: false, revision: 2)])
    for number in 0..<300 {
      try tell(other, "\(number)")
      if number % 10 == 0 { try tell(database, "own") }
    }
    #expect(observed.reaches(331))
    usleep(300_000)
    let foreign = observed.all.filter { !$0.isOwn }
    #expect(foreign.flatMap(\.keys) == ["a"] + (0..<300).map { "\($0)" })
    #expect(foreign.map(\.revision) == foreign.map(\.revision).sorted())
    #expect(observed.all.count == 331)
    subscription.cancel()
  }

  @Test("when more was committed than the change log keeps, all subjects are reported as changed")
  func overflow() throws {
    let (database, other) = (try fixture.open(), try fixture.open())
    let observed = ObservedChanges()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Atomic(true)
    let subscription = try database.observe { change in
      observed.add(change)
      if isFirst.exchange(false, ordering: .relaxed) {
        entered.signal()
        mayLeave.wait()
      }
    }
    try tell(other, "first")
    entered.wait()
    // The observer is slow, so that the change log overflows meanwhile.
    let commits = Int(ChangeLog.kept + 2 * ChangeLog.trimInterval)
    for number in 1...commits { try tell(other, "\(number)") }
    mayLeave.signal()
    let last = "\(commits)"
    let end = Date() + 120
    while observed.all.last?.keys != [last], Date() < end { usleep(5000) }
    let keys = observed.all.map(\.keys)
    #expect(keys.first == ["first"])
    #expect(keys.dropFirst().first == ["*"])
    #expect(observed.all.filter(\.concernsAll).map(\.subject) == Change.Subject.all)
    #expect(keys.last == [last])
    #expect(keys.count >= 2 + Int(ChangeLog.kept))
    #expect(keys.count < commits)
    #expect(
      try other.read { try $0.number("SELECT count(*) FROM change") } <= ChangeLog.kept
        + ChangeLog.trimInterval)
    subscription.cancel()
  }

  @Test("an observer may cancel itself in its callback; others stay subscribed")
  func cancelInside() throws {
    let database = try fixture.open()
    let (one, other) = (ObservedChanges(), ObservedChanges())
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

  @Test("an observer may write, and is notified of that change")
  func writeInside() throws {
    let database = try fixture.open()
    let observed = ObservedChanges()
    let subscription = try database.observe { change in
      observed.add(change)
      guard change.keys == ["a"] else { return }
      try? database.write { $0.note(subject: .test, keys: ["b"], place: nil) }
    }
    try tell(database, "a")
    #expect(observed.keys == ["a", "b"])
    subscription.cancel()
  }

  @Test("cancel on another thread does not wait, and the observer is released after its callback")
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
    let writing = Background { try database.write { $0.note(subject: .test, keys: ["a"], place: nil) } }
    entered.wait()
    subscription?.cancel()
    #expect(released != nil, "released while it was being called")
    mayLeave.signal()
    try writing.finish()
    #expect(released == nil)
  }

  @Test("a released subscription is cancelled")
  func givenUp() throws {
    let database = try fixture.open()
    let observed = ObservedChanges()
    var subscription: ChangeFeed.Subscription? = try database.observe { observed.add($0) }
    try tell(database, "a")
    withExtendedLifetime(subscription) {}
    subscription = nil
    try tell(database, "b")
    #expect(observed.keys == ["a"])
  }

  @Test(
    "close waits for a running observer, and nothing is reported afterwards",
    arguments: [true, false])
  func closeDuringDelivery(isOwn: Bool) throws {
    let database = try fixture.open()
    let writer = isOwn ? database : try fixture.open()
    let observed = ObservedChanges()
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let subscription = try database.observe { change in
      entered.signal()
      mayLeave.wait()
      observed.add(change)
    }
    let writing = Background { try writer.write { $0.note(subject: .test, keys: ["a"], place: nil) } }
    entered.wait()
    let closing = Background { try database.close() }
    #expect(!closing.ends(within: 0.2), "closed during an observer's callback")
    mayLeave.signal()
    try closing.finish()
    try writing.finish()
    #expect(observed.keys == ["a"])
    if !isOwn {
      try tell(writer, "b")
      usleep(300_000)
      #expect(observed.keys == ["a"])
    }
    #expect(try code { _ = try database.observe { _ in } } == .closed)
    subscription.cancel()
  }
}
