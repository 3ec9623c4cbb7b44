import Testing

@testable import Satchel

@Suite("When a store that is kept in sync is synchronized next")
struct SyncScheduleTests {
  var schedule = SyncSchedule(interval: 60_000)

  /// A schedule after a first sync that ended at 1,000.
  static func synchronized(interval: Int64? = 60_000) -> SyncSchedule {
    var schedule = SyncSchedule(interval: interval)
    schedule.begin()
    schedule.succeed(at: 1_000, jitter: 0)
    return schedule
  }

  @Test("the first sync is due at once, and then one after the interval and up to a tenth more")
  mutating func beginning() {
    #expect(schedule.due == 0)
    #expect(!schedule.isForChanges(at: 5))
    schedule.begin()
    #expect(schedule.due == nil)
    schedule.succeed(at: 1_000, jitter: 0)
    #expect(schedule.due == 61_000)
    schedule.succeed(at: 1_000, jitter: 1)
    #expect(schedule.due == 67_000)
    #expect(Self.synchronized(interval: nil).due == nil)
  }

  @Test("changes are sent a second after the last one, and at most five after the first one")
  func changes() {
    var schedule = Self.synchronized(interval: nil)
    schedule.noteChange(at: 2_000)
    #expect(schedule.due == 3_000)
    #expect(schedule.isForChanges(at: 3_000))
    for time in stride(from: Int64(2_100), through: 9_000, by: 100) { schedule.noteChange(at: time) }
    #expect(schedule.due == 7_000)
    schedule.forgetChanges()
    #expect(schedule.due == nil)
  }

  @Test("a change just before the interval ends does not delay it") func changeAndInterval() {
    var schedule = Self.synchronized()
    schedule.noteChange(at: 60_900)
    #expect(schedule.due == 61_000)
    #expect(!schedule.isForChanges(at: 61_000))
  }

  @Test("changes during a sync are looked at after it") func changesMeanwhile() {
    var schedule = Self.synchronized()
    schedule.begin()
    schedule.noteChange(at: 61_500)
    schedule.succeed(at: 62_000, jitter: 0)
    #expect(schedule.due == 62_500)
  }

  @Test("failures are tried again after 5 seconds, 10 and so on up to an hour, whatever is changed meanwhile")
  func failures() {
    var schedule = Self.synchronized()
    var waits: [Int64] = []
    for _ in 1...12 {
      schedule.begin()
      schedule.fail(at: 0, isFinal: false, jitter: 1)
      schedule.noteChange(at: 0)
      waits.append(schedule.due ?? -1)
    }
    #expect(waits.prefix(4) == [5_000, 10_000, 20_000, 40_000])
    #expect(waits.suffix(2) == [3_600_000, 3_600_000])
    schedule.fail(at: 0, isFinal: false, jitter: 0)
    #expect(schedule.due == 1_800_000)
    schedule.begin()
    schedule.succeed(at: 0, jitter: 0)
    #expect(schedule.failures == 0 && schedule.due == 60_000)
    schedule.fail(at: 0, isFinal: true, jitter: 1)
    #expect(schedule.due == 3_600_000)
  }

  @Test("a request comes before everything, also before the time that follows a failure") func requests() {
    var schedule = Self.synchronized()
    schedule.fail(at: 0, isFinal: true, jitter: 1)
    schedule.request()
    #expect(schedule.due == 0)
    schedule.begin()
    schedule.fail(at: 10, isFinal: false, jitter: 1)
    #expect(schedule.due == 10_010)
  }

  @Test("without a network what is due stays due, and the network is looked at every five seconds")
  func held() {
    var schedule = Self.synchronized(interval: nil)
    schedule.noteChange(at: 2_000)
    schedule.hold(at: 3_000)
    #expect(schedule.due == 8_000)
    schedule.noteChange(at: 4_000)
    #expect(schedule.due == 8_000)
    #expect(schedule.isForChanges(at: 8_000))
    schedule.request()
    #expect(schedule.due == 0)
    schedule.hold(at: 8_000)
    schedule.begin()
    schedule.succeed(at: 9_000, jitter: 0)
    #expect(schedule.due == nil)
  }
}
