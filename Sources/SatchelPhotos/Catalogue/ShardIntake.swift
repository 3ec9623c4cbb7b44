import SatchelStorage

/// Reads the shards of a directory on threads of its own, a few ahead of whoever takes them.
// Unchecked: all state is behind the monitor.
final class ShardIntake: @unchecked Sendable {
  /// What became of a shard's file.
  enum Outcome {
    case missing
    /// As it was when it was imported before.
    case unchanged
    /// The file, and the bytes that it refers to.
    case read(ShardFile, FileBytes)
    case failed(any Error)
  }

  /// Files that are in memory at once, at most, beside the one that was taken.
  private static let ahead = 3

  private let directory: ShardDirectory
  private let sources: [Shard.Index: String]
  private let monitor = Monitor()
  private var next = 0
  private var taken = 0
  private var ready: [Int: Outcome] = [:]
  private var isStopped = false
  private var threads: [SystemThread] = []

  /// - Parameter sources: SHA-256 of files that would change nothing
  init(_ directory: ShardDirectory, sources: [Shard.Index: String]) {
    self.directory = directory
    self.sources = sources
  }

  /// Starts reading.
  func start() {
    for _ in 0..<2 {
      if let thread = SystemThread({ [self] in run() }) { threads.append(thread) }
    }
  }

  /// The file of a shard; asked for in order.
  func take(_ shard: Shard.Index) -> Outcome {
    monitor.lock()
    while !threads.isEmpty, ready[shard.number] == nil { monitor.wait() }
    let outcome = ready.removeValue(forKey: shard.number)
    taken = shard.number + 1
    monitor.signal()
    monitor.unlock()
    // Without threads, here.
    return outcome ?? read(shard)
  }

  /// Ends reading, and waits for it.
  func stop() {
    monitor.withLock {
      isStopped = true
      monitor.signal()
    }
    for thread in threads { thread.join() }
    threads = []
  }

  private func run() {
    while let shard = claim() {
      let outcome = read(shard)
      monitor.withLock {
        ready[shard.number] = outcome
        monitor.signal()
      }
    }
  }

  private func claim() -> Shard.Index? {
    monitor.lock()
    defer { monitor.unlock() }
    while !isStopped, next < 16, next > taken + Self.ahead { monitor.wait() }
    guard !isStopped, let shard = Shard.Index(next) else { return nil }
    next += 1
    return shard
  }

  private func read(_ shard: Shard.Index) -> Outcome {
    do {
      guard let file = try directory.read(shard) else { return .missing }
      return try withExtendedLifetime(file) {
        let source = Shard.checksum(file.bytes)
        if sources[shard] == source { return .unchanged }
        return .read(try ShardFile(file.bytes, shard: shard, source: source), file)
      }
    } catch {
      return .failed(error)
    }
  }
}
