import Testing

@testable import SatchelStorage

@Suite("Reading ahead")
struct ReadAheadTests {
  /// Squares of numbers, and how far the work was ever ahead of what was taken.
  private func squares(_ count: Int, ahead: Int, threads: Int) -> ReadAhead<Int, Int> {
    ReadAhead(Array(0..<count), ahead: ahead, threads: threads) { numbers in
      while let (index, number) = numbers.next() { numbers.give(number * number, at: index) }
    }
  }

  @Test("outcomes come in the list's order", arguments: [1, 2, 7])
  func order(threads: Int) {
    let numbers = squares(500, ahead: 5, threads: threads)
    defer { numbers.stop() }
    for number in 0..<500 { #expect(numbers.take() == number * number) }
    #expect(numbers.take() == nil && numbers.isFinished && numbers.done == 500)
  }

  @Test("nobody works further ahead than was said")
  func bounded() {
    let begun = Guarded(0)
    let numbers = ReadAhead<Int, Int>(Array(0..<100), ahead: 4, threads: 3) { numbers in
      while let (index, number) = numbers.next() {
        begun.withLock { $0 += 1 }
        numbers.give(number, at: index)
      }
    }
    defer { numbers.stop() }
    #expect(numbers.wait(for: 4, milliseconds: 60_000))
    #expect(!numbers.wait(for: 5, milliseconds: 100))
    #expect(begun.withLock { $0 } == 4)
    #expect(numbers.take(atMost: 3).outcomes == [0, 1, 2])
    #expect(numbers.wait(for: 4, milliseconds: 60_000))
    let rest = numbers.take(atMost: .max)
    #expect(rest.first == 3 && rest.outcomes == [3, 4, 5, 6])
  }

  @Test("who stops gives up what is not begun, and what is under way can know")
  func stops() {
    let numbers = ReadAhead<Int, Int>(Array(0..<1000), ahead: 2, threads: 2) { numbers in
      while let (index, number) = numbers.next() {
        while !numbers.isStopped { usleep(1000) }
        numbers.give(number, at: index)
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
    #expect(!numbers.isRunning && numbers.isFinished && numbers.take() == nil)
    #expect(numbers.wait(for: 3, milliseconds: 0))
  }

  @Test("work is shared out, each item once", arguments: [0, 1, 3, 100])
  func shared(limit: Int) {
    let seen = Guarded<[Int]>([])
    inParallel(Array(0..<200), limit: limit) { number in seen.withLock { $0.append(number) } }
    #expect(seen.withLock { $0.sorted() } == Array(0..<200))
    inParallel([Int](), limit: limit) { _ in Issue.record("there is nothing to do") }
  }
}
