import Testing

import SatchelCore
import SatchelStorage

@Suite("The clock")
struct ClockTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  @Test("time never runs backwards, for any host clock")
  func nonDecreasing() {
    let host = TestClock(1000)
    let clock = NonDecreasingClock(host.clock)
    #expect(clock.now() == 1000)
    host.set(500)
    #expect(clock.now() == 1000)
    host.set(1001)
    #expect(clock.now() == 1001)
    clock.advance(to: 2000)
    #expect(clock.now() == 2000)
    clock.advance(to: 10)
    #expect(clock.now() == 2000)
  }

  @Test("extreme times are limited so that sums cannot overflow", arguments: [Int64.min, -1, .max, .max - 1])
  func extremes(time: Int64) {
    let now = NonDecreasingClock(TestClock(time).clock).now()
    #expect(now == (time < 0 ? 0 : NonDecreasingClock.latest))
    #expect(!now.addingReportingOverflow(1_000_000_000_000_000_000).overflow)
  }

  @Test("the system's clock returns Unix milliseconds")
  func system() {
    let now = Clock.system.now()
    #expect(now > 1_700_000_000_000 && now < 10_000_000_000_000)
  }

  @Test("a store that is opened again starts at its latest time")
  func reopened() throws {
    let host = TestClock(5000)
    let first = try fixture.open { $0.clock = host.clock }
    try first.write { transaction in
      #expect(transaction.now == 5000)
      transaction.note(subject: .test, keys: ["a"], place: nil)
    }
    try first.close()
    host.set(1000)
    let reading = try fixture.open { $0.clock = host.clock }
    #expect(try reading.read { try reading.time($0) } == 5000)
    try reading.close()
    let writing = try fixture.open { $0.clock = host.clock }
    try writing.write { #expect($0.now == 5000) }
    host.set(6000)
    try writing.write { #expect($0.now == 6000) }
  }

  @Test("a write is never earlier than a write of another handle")
  func otherHandle() throws {
    let (early, late) = (TestClock(1000), TestClock(9000))
    let one = try fixture.open { $0.clock = early.clock }
    let other = try fixture.open { $0.clock = late.clock }
    try one.write { #expect($0.now == 1000) }
    try other.write { $0.note(subject: .test, keys: ["a"], place: nil) }
    try one.write { transaction in
      #expect(transaction.now == 9000)
      transaction.note(subject: .test, keys: ["b"], place: nil)
    }
    early.set(9500)
    try one.write { #expect($0.now == 9500) }
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
}
