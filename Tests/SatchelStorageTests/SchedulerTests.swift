import SatchelTesting
import Testing

@testable import SatchelCore
@testable import SatchelStorage

@Suite("The scheduler of a store")
struct SchedulerTests {
  private let scheduler = Scheduler()

  /// What jobs did, in order, and a way to wait for it.
  private final class Record: @unchecked Sendable {
    private let condition = ConditionLock()
    private var lines: [String] = []

    func note(_ line: String) {
      condition.withLock {
        lines.append(line)
        condition.signal()
      }
    }

    func wait(for count: Int) -> [String] {
      condition.withLock {
        while lines.count < count { condition.wait() }
        return lines
      }
    }
  }

  @Test("runs jobs in the order of their times, each once for the requests before it")
  func order() throws {
    let record = Record()
    let started = ConditionLock()
    let first = scheduler.prompt.job {
      record.note("first")
      started.withLock {}
      return nil
    }
    let jobs = ["late", "early"].map { name in
      scheduler.prompt.job {
        record.note(name)
        return nil
      }
    }
    let now = Clock.monotonic.now()
    try started.withLock {
      try first.request()
      _ = record.wait(for: 1)
      try jobs[0].request(at: now - 5)
      try jobs[1].request(at: now)
      try jobs[1].request(at: now - 10)
    }
    #expect(record.wait(for: 3) == ["first", "early", "late"])
    scheduler.stop()
    #expect(record.wait(for: 3).count == 3)
  }

  @Test("runs a job again at the time that it returned, and as often as it asks")
  func again() throws {
    let record = Record()
    let left = Locked(3)
    let job = scheduler.prompt.job {
      record.note("run")
      return left.withLock { left in
        left -= 1
        return left > 0 ? Clock.monotonic.now() + 1 : nil
      }
    }
    try job.request()
    #expect(record.wait(for: 3).count == 3)
    #expect(!job.withdraw())
    scheduler.stop()
    #expect(record.wait(for: 3).count == 3)
  }

  @Test("saves while a long job runs")
  func lanes() throws {
    let (record, end) = (Record(), ConditionLock())
    let long = scheduler.long.job {
      record.note("long begins")
      end.withLock {}
      record.note("long ends")
      return nil
    }
    let prompt = scheduler.prompt.job {
      record.note("prompt")
      return nil
    }
    try end.withLock {
      try long.request()
      _ = record.wait(for: 1)
      try prompt.request()
      #expect(record.wait(for: 2) == ["long begins", "prompt"])
    }
    #expect(record.wait(for: 3).last == "long ends")
    scheduler.stop()
  }

  @Test("drops a request that is withdrawn, and cancelling waits for the run in progress")
  func cancelling() throws {
    let (record, begin) = (Record(), ConditionLock())
    let running = scheduler.prompt.job {
      record.note("begins")
      begin.withLock {}
      record.note("ends")
      return Clock.monotonic.now()
    }
    let waiting = scheduler.prompt.job {
      record.note("never")
      return nil
    }
    try begin.withLock {
      try running.request()
      _ = record.wait(for: 1)
      try waiting.request()
      #expect(waiting.withdraw())
      #expect(!waiting.withdraw())
    }
    running.cancel()
    let lines = record.wait(for: 2)
    #expect(lines.suffix(1) == ["ends"] && !lines.contains("never"))
    scheduler.stop()
    #expect(record.wait(for: 2) == lines)
  }

  @Test("can be stopped by a job, and then refuses requests")
  func stoppedByJob() throws {
    let record = Record()
    let other = scheduler.long.job { nil }
    let scheduler = scheduler
    let job = scheduler.prompt.job {
      scheduler.stop()
      record.note("stopped")
      return Clock.monotonic.now()
    }
    try other.request()
    try job.request()
    _ = record.wait(for: 1)
    let error = #expect(throws: SatchelError.self) { try other.request() }
    #expect(error?.code == .closed)
    #expect(!job.withdraw())
  }

  @Test("requests are a value: the earliest first, and none before its time")
  func requests() {
    final class Job {}
    let (one, two) = (Job(), Job())
    var requests = Requests<Job>()
    #expect(requests.earliest == nil && requests.takeDue(at: .max) == nil)
    let changes = [requests.add(one, at: 20), requests.add(two, at: 10), requests.add(one, at: 15)]
    #expect(changes == [true, true, false])
    #expect(requests.earliest == 10 && requests.takeDue(at: 9) == nil)
    #expect(requests.takeDue(at: 30) === two && requests.takeDue(at: 30) === one)
    #expect(requests.takeDue(at: .max) == nil)
    requests.add(one, at: .min)
    #expect(requests.remove(one) && !requests.remove(one) && requests.earliest == nil)
  }
}
