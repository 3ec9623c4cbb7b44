import SatchelCore
import SatchelStorage

import SatchelRemote

/// Concurrent writers of the same object.
enum Contest {
  /// Runs `body` on `count` threads at once, regardless of the number of processors, and waits for all.
  static func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
    let threads = (0..<count).compactMap { index in SystemThread { body(index) } }
    for thread in threads { thread.join() }
    guard threads.count == count else { throw SatchelError(.noMemory, "no threads") }
  }

  /// Each contestant tries to write first in each round.
  ///
  /// - Returns: the rounds that each contestant has won
  static func rounds(
    _ count: Int, stores: [any ObjectStore], metadata: ObjectMetadata = .none
  ) throws -> [[Int]] {
    let results = Locked([Result<[Int], any Error>](repeating: .success([]), count: stores.count))
    let arrived = Locked(0)
    try inParallel(stores.count) { contestant in
      let result = Result {
        // All begin each round at the same time, for as many collisions as possible.
        try first(contestant, rounds: count, store: stores[contestant], metadata) { round in
          arrived.withLock { $0 += 1 }
          while arrived.withLock({ $0 }) < (round + 1) * stores.count { sched_yield() }
        }
      }
      // A contestant that fails must not block the others.
      if case .failure = result { arrived.withLock { $0 = .max / 2 } }
      results.withLock { $0[contestant] = result }
    }
    return try results.withLock { try $0.map { try $0.get() } }
  }

  static func first(
    _ contestant: Int, rounds: Int, store: any ObjectStore, _ metadata: ObjectMetadata = .none,
    beforeEach: (_ round: Int) -> Void = { _ in }
  ) throws -> [Int] {
    var won: [Int] = []
    for round in 0..<rounds {
      beforeEach(round)
      do {
        let key = try ObjectKey("rounds/\(round)")
        try store.put(key, Array("\(contestant)".utf8), condition: .ifAbsent, metadata: metadata)
        won.append(round)
      } catch {
        guard error.reason == .preconditionFailed else { throw error }
      }
    }
    return won
  }

  /// Increments a number in an object repeatedly with conditional writes.
  static func count(_ times: Int, in store: any ObjectStore) throws {
    let key = try ObjectKey("number")
    var done = 0
    while done < times {
      do {
        let object = try store.get(key)
        let number = Int(String(decoding: object.body, as: UTF8.self)) ?? -1_000_000
        try store.put(key, Array("\(number + 1)".utf8), condition: .ifMatch(object.etag))
        done += 1
      } catch {
        guard error.reason == .preconditionFailed else { throw error }
      }
    }
  }

  /// Each contestant appends lines to an object with reliable writes, until enough were reported as written.
  ///
  /// - Returns: whether every reported line is in the object exactly once, and the errors
  static func append(_ times: Int, to key: ObjectKey, stores: [any ObjectStore], retry: Retry) throws
    -> (isWhole: Bool, failures: [String])
  {
    let (failures, reported) = (Locked<[String]>([]), Locked<[String]>([]))
    try inParallel(stores.count) { index in
      let writer = ReliableWriter(stores[index], retry: retry)
      do {
        var (attempt, done) = (0, 0)
        while done < times {
          attempt += 1
          let object = try retry.run { _ throws(ObjectStoreError) in try stores[index].get(key) }
          let line = "\(index)/\(attempt)"
          let body = object.body + Array((line + "\n").utf8)
          guard case .written = try writer.write(key, body, condition: .ifMatch(object.etag)) else {
            continue
          }
          done += 1
          reported.withLock { $0.append(line) }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    let body = try retry.run { _ throws(ObjectStoreError) in try stores[0].get(key).body }
    let lines = String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    let written = reported.withLock { $0 }
    let isWhole = Set(lines).count == lines.count && Set(written).isSubset(of: lines)
    return (isWhole && written.count == times * stores.count, failures.withLock { $0 })
  }
}

extension Retry {
  /// Runs with real random numbers and real delays.
  fileprivate func run<Value>(_ body: (Int) throws(ObjectStoreError) -> Value) throws(ObjectStoreError)
    -> Value
  {
    var random = SystemRandomNumberGenerator()
    return try run(
      random: &random,
      pause: { wait throws(ObjectStoreError) in try Cancellation.never.wait(milliseconds: wait) }, body)
  }
}
