import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The clock")
struct ClockTests {
  static let start: Int64 = 1_790_000_000_000
  static let day: Int64 = 86_400_000
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("time stays when the host's clock is set back by up to 24 hours")
  func setBack() {
    let host = TestClock(Self.start)
    let clock = StoreClock(host.clock)
    #expect(clock.now() == Self.start)
    host.set(Self.start - Self.day)
    #expect(clock.now() == Self.start)
    host.set(Self.start + 1)
    #expect(clock.now() == Self.start + 1)
    #expect(clock.now(after: Self.start + Self.day) == Self.start + Self.day)
    #expect(clock.now(after: 10) == Self.start + Self.day)
  }

  @Test("a clock that was ahead by more than 24 hours has no lasting effect")
  func ahead() {
    let host = TestClock(Self.start + Self.day + 1)
    let clock = StoreClock(host.clock)
    _ = clock.now()
    host.set(Self.start)
    #expect(clock.now() == Self.start)
    #expect(clock.now(after: Self.start + Self.day + 1) == Self.start)
  }

  @Test(
    "a clock that was never set does not count, as long as a later time is known",
    arguments: [0, 1_500_000_000_000])
  func neverSet(time: Int64) {
    let host = TestClock(time)
    let clock = StoreClock(host.clock)
    #expect(clock.now() == time)
    #expect(clock.now(after: Self.start) == Self.start)
    host.set(time + 1000)
    #expect(clock.now() == Self.start)
    #expect(StoreClock.credible(Self.start, at: time) == Self.start)
    host.set(Self.start + 5)
    #expect(clock.now() == Self.start + 5)
  }

  @Test("extreme times are limited so that sums cannot overflow", arguments: [Int64.min, -1, .max, .max - 1])
  func extremes(time: Int64) {
    let now = StoreClock(TestClock(time).clock).now()
    #expect(now == (time < 0 ? 0 : StoreClock.latest))
    #expect(!now.addingReportingOverflow(1_000_000_000_000_000_000).overflow)
    #expect(StoreClock(TestClock(5).clock).now(after: time) == max(5, min(time, StoreClock.latest)))
  }

  @Test("the system's clock returns Unix milliseconds")
  func system() {
    let now = Clock.system.now()
    #expect(now > 1_700_000_000_000 && now < 10_000_000_000_000)
  }

  @Test("a store that is opened again starts at its latest time")
  func reopened() throws {
    let host = TestClock(Self.start + 4000)
    let first = try fixture.open { $0.clock = host.clock }
    try first.write { transaction in
      #expect(transaction.now == Self.start + 4000)
      transaction.note(subject: .test, keys: ["a"], place: nil)
    }
    try first.close()
    host.set(Self.start)
    let reading = try fixture.open { $0.clock = host.clock }
    #expect(reading.clock.now() == Self.start + 4000)
    try reading.close()
    let writing = try fixture.open { $0.clock = host.clock }
    try writing.write { #expect($0.now == Self.start + 4000) }
    host.set(Self.start + 5000)
    try writing.write { #expect($0.now == Self.start + 5000) }
  }

  @Test("a write is never earlier than a write of another handle whose clock may be right")
  func otherHandle() throws {
    let (early, late) = (TestClock(Self.start), TestClock(Self.start + 9000))
    let one = try fixture.open { $0.clock = early.clock }
    let other = try fixture.open { $0.clock = late.clock }
    try one.write { #expect($0.now == Self.start) }
    try other.write { $0.note(subject: .test, keys: ["a"], place: nil) }
    try one.write { transaction in
      #expect(transaction.now == Self.start + 9000)
      transaction.note(subject: .test, keys: ["b"], place: nil)
    }
    early.set(Self.start + 9500)
    try one.write { #expect($0.now == Self.start + 9500) }
  }

  @Test("the time is constant inside a write")
  func oneTimePerWrite() throws {
    let host = TestClock(1000)
    let database = try fixture.open { $0.clock = host.clock }
    try database.write { outer in
      host.set(2000)
      try database.write { #expect($0.now == 1000) }
      #expect(outer.now == 1000)
    }
  }

  @Test("the time of a commit without changes to notify of is known, too")
  func commitsWithoutChanges() throws {
    let database = try fixture.open { $0.clock = TestClock(Self.start).clock }
    try database.write { _ in }
    #expect(try database.read { try ChangeLog.newestEntry($0).time } == 0)
    try database.write { try $0.add("a") }
    #expect(try database.read { try ChangeLog.newestEntry($0).time } == Self.start)
  }
}
