import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelRemote

@Suite("Retries")
struct RetryTests {
  /// Returns always one end of the range: 1 or `.max`. Not 0, which the standard library rejects without end
  /// to make the distribution uniform.
  private struct Extreme: RandomNumberGenerator {
    var value: UInt64
    mutating func next() -> UInt64 { value }
  }

  private let retry = Retry(attempts: 5, base: 100, ceiling: 1000, limit: 10_000)

  @Test("wait from zero up to a limit that doubles each time, up to the ceiling")
  func window() {
    for (failures, longest) in [(1, 100), (2, 200), (3, 400), (4, 800)] as [(Int, Int64)] {
      var random = SeededRandom(seed: 7)
      let delays = (0..<2000).compactMap { _ in
        retry.delay(afterFailures: failures, elapsed: 0, random: &random)
      }
      #expect(delays.count == 2000)
      #expect(delays.allSatisfy { (0...longest).contains($0) })
      // Full jitter: the delays are distributed uniformly over the whole window.
      #expect(delays.contains { $0 < longest / 20 } && delays.contains { $0 > longest * 19 / 20 })
      let mean = delays.reduce(0, +) / 2000
      #expect(abs(mean - longest / 2) < longest / 15)
    }
    let many = Retry(attempts: .max, base: 100, ceiling: 1000, limit: .max)
    var random = SeededRandom(seed: 8)
    for failures in [5, 30, 61, 62, 63, 64, 1000, .max - 1] {
      let delay = many.delay(afterFailures: failures, elapsed: 0, random: &random)
      #expect(delay.map { (0...1000).contains($0) } == true)
    }
  }

  @Test("give up after the maximum number of attempts, and after the time limit")
  func bounds() {
    var random = Extreme(value: 1)
    #expect(retry.delay(afterFailures: 4, elapsed: 0, random: &random) == 0)
    #expect(retry.delay(afterFailures: 5, elapsed: 0, random: &random) == nil)
    #expect(retry.delay(afterFailures: 1, elapsed: 9_999, random: &random) == 0)
    #expect(retry.delay(afterFailures: 1, elapsed: 10_000, random: &random) == nil)
    var late = Extreme(value: .max)
    #expect(retry.delay(afterFailures: 4, elapsed: 9_950, random: &late) == 50)
    #expect(Retry(attempts: 0).delay(afterFailures: 1, elapsed: 0, random: &random) == nil)
  }

  @Test("wait at least as long as the store asks, and give up when that exceeds the limit")
  func retryAfter() {
    var (least, most) = (Extreme(value: 1), Extreme(value: .max))
    #expect(retry.delay(afterFailures: 1, elapsed: 0, retryAfter: 3000, random: &least) == 3000)
    #expect(retry.delay(afterFailures: 1, elapsed: 0, retryAfter: 3000, random: &most) == 3100)
    #expect(retry.delay(afterFailures: 1, elapsed: 0, retryAfter: 10_000, random: &most) == 10_000)
    #expect(retry.delay(afterFailures: 1, elapsed: 1, retryAfter: 10_000, random: &most) == nil)
    #expect(retry.delay(afterFailures: 1, elapsed: 0, retryAfter: -5, random: &least) == 0)
  }

  @Test("accept extreme numbers", arguments: [Int64.min, -1, 0, .max])
  func extremes(number: Int64) {
    let odd = Retry(attempts: 3, base: number, ceiling: number, limit: number)
    var random = SeededRandom(seed: 1)
    for elapsed in [Int64.min, 0, .max] {
      for wish in [nil, Int64.min, .max] {
        let delay = odd.delay(afterFailures: .min, elapsed: elapsed, retryAfter: wish, random: &random)
        #expect(delay.map { $0 >= 0 && $0 <= number } ?? true)
      }
    }
  }

  private func run(
    _ errors: [ObjectStoreError.Reason], waits: inout [Int64], step: Int64 = 0
  ) -> (attempts: Int, reason: ObjectStoreError.Reason?) {
    let time = Locked<Int64>(0)
    var (random, attempts) = (Extreme(value: .max), 0)
    var pauses: [Int64] = []
    defer { waits = pauses }
    do {
      try retry.run(
        clock: Clock { time.withLock { $0 } }, random: &random,
        pause: { wait in
          pauses.append(wait)
          time.withLock { $0 += wait }
        },
        { attempt throws(ObjectStoreError) in
          attempts = attempt
          time.withLock { $0 += step }
          if attempt <= errors.count { throw ObjectStoreError(errors[attempt - 1], "attempt \(attempt)") }
        })
      return (attempts, nil)
    } catch {
      return (attempts, error.reason)
    }
  }

  @Test("continue until the first success")
  func succeeds() {
    var waits: [Int64] = []
    #expect(run([], waits: &waits) == (1, nil))
    #expect(waits == [])
    #expect(
      run([.transient(retryAfter: nil), .truncated, .transient(retryAfter: 500)], waits: &waits) == (4, nil))
    #expect(waits == [100, 200, 900])
  }

  @Test(
    "do not repeat permanent failures or unknown outcomes",
    arguments: [
      .notFound, .preconditionFailed, .unknownOutcome(retryAfter: 1), .denied, .cancelled, .invalidKey,
      .failed(.io),
    ] as [ObjectStoreError.Reason])
  func final(reason: ObjectStoreError.Reason) {
    var waits: [Int64] = []
    #expect(run([.truncated, reason], waits: &waits) == (2, reason))
    #expect(waits == [100])
  }

  @Test("throw the last error when attempts or time are exhausted")
  func usedUp() {
    var waits: [Int64] = []
    let endless = [ObjectStoreError.Reason](repeating: .truncated, count: 100)
    #expect(run(endless, waits: &waits) == (5, .truncated))
    #expect(waits == [100, 200, 400, 800])
    #expect(run(endless, waits: &waits, step: 6_000) == (2, .truncated))
    #expect(waits == [100])
  }

  @Test("a wait ends at once when the caller cancels")
  func cancelledWait() throws {
    let asked = Locked(0)
    let cancellation = Cancellation {
      asked.withLock {
        $0 += 1
        return $0 > 2
      }
    }
    #expect(try reason { try cancellation.wait(milliseconds: 3_600_000) } == .cancelled)
    #expect(asked.withLock { $0 } == 3)
    try Cancellation.never.wait(milliseconds: .min)
    let before = Clock.monotonic.now()
    try Cancellation.never.wait(milliseconds: 45)
    #expect(Clock.monotonic.now() - before >= 45)
  }
}
