import Testing

import SatchelCore
import SatchelStorage

@Suite("Reading ahead")
struct ReadAheadTests {
  /// Squares of numbers, and the maximum number of outcomes ahead of the consumer.
  private func squares(_ count: Int, ahead: Int, threads: Int) -> ReadAhead<Int, Int> {
    ReadAhead(Array(0..<count), ahead: ahead, threads: threads) { numbers in
      while let (index, number) = numbers.next() { numbers.finish(number * number, at: index) }
    }
  }

  @Test("outcomes are returned in the list's order", arguments: [1, 2, 7])
  func order(threads: Int) {
    let numbers = squares(500, ahead: 5, threads: threads)
    defer { numbers.stop() }
    for number in 0..<500 { #expect(numbers.popOutcome() == number * number) }
    #expect(numbers.popOutcome() == nil && numbers.isFinished && numbers.done == 500)
  }

  @Test("the threads never exceed the read-ahead limit")
  func bounded() {
    let begun = Locked(0)
    let numbers = ReadAhead<Int, Int>(Array(0..<100), ahead: 4, threads: 3) { numbers in
      while let (index, number) = numbers.next() {
        begun.withLock { $0 += 1 }
        numbers.finish(number, at: index)
      }
    }
    defer { numbers.stop() }
    #expect(numbers.wait(for: 4, milliseconds: 60_000))
    #expect(!numbers.wait(for: 5, milliseconds: 100))
    #expect(begun.withLock { $0 } == 4)
    #expect(numbers.popOutcomes(limit: 3).outcomes == [0, 1, 2])
    #expect(numbers.wait(for: 4, milliseconds: 60_000))
    let rest = numbers.popOutcomes(limit: .max)
    #expect(rest.first == 3 && rest.outcomes == [3, 4, 5, 6])
  }

  @Test("stop drops the items that are not begun, and work in progress can see it")
  func stops() {
    let numbers = ReadAhead<Int, Int>(Array(0..<1000), ahead: 2, threads: 2) { numbers in
      while let (index, number) = numbers.next() {
        while !numbers.isStopped { usleep(1000) }
        numbers.finish(number, at: index)
      }
    }
    #expect(numbers.isRunning)
    numbers.stop()
    #expect(!numbers.isRunning && numbers.done <= 2)
    numbers.stop()
  }

  @Test("an empty list needs no thread")
  func empty() {
    let numbers = squares(0, ahead: 4, threads: 4)
    #expect(!numbers.isRunning && numbers.isFinished && numbers.popOutcome() == nil)
    #expect(numbers.wait(for: 3, milliseconds: 0))
  }

  @Test("each item is processed once", arguments: [0, 1, 3, 100])
  func shared(limit: Int) {
    let seen = Locked<[Int]>([])
    inParallel(Array(0..<200), limit: limit) { number in seen.withLock { $0.append(number) } }
    #expect(seen.withLock { $0.sorted() } == Array(0..<200))
    inParallel([Int](), limit: limit) { _ in Issue.record("there is nothing to do") }
  }
}
