import SatchelStorage

/// Threads that read the files of a list, a few at once, and keep what they learn until it is taken in the list's
/// order. They wait when they are too far ahead, so that memory stays bounded.
// Unchecked: what changes is behind the monitor.
final class PhotoReaders: @unchecked Sendable {
  typealias Outcome = Result<ScannedPhoto, OpenFile.Fault>

  /// How many outcomes may wait to be taken.
  private static let ahead = 2000

  private let files: [PhotoEntry]
  private let makeReader: @Sendable () -> PhotoFileReader
  private let monitor = Monitor()
  private var threads: [SystemThread] = []
  private var outcomes: [Int: Outcome] = [:]
  /// The next file to be read, and the next outcome to be taken.
  private var next = 0
  private var taken = 0
  private var bytes: Int64 = 0
  private var isStopped = false

  /// Begins to read.
  ///
  /// - Parameter parallel: how many threads; with none to be had, `take` fails
  init(_ files: [PhotoEntry], parallel: Int, _ makeReader: @escaping @Sendable () -> PhotoFileReader) throws {
    self.files = files
    self.makeReader = makeReader
    for _ in 0..<min(parallel, files.count) {
      guard let thread = SystemThread({ [self] in run() }) else { break }
      threads.append(thread)
    }
    if threads.isEmpty, !files.isEmpty { throw SatchelError(.noMemory, "no thread to be had") }
  }

  private func run() {
    var reader = makeReader()
    while let index = claim() {
      let outcome: Outcome
      do throws(OpenFile.Fault) {
        guard let photo = try reader.read(files[index], { self.count($0) }) else { return }
        outcome = .success(photo)
      } catch {
        outcome = .failure(error)
      }
      monitor.withLock {
        outcomes[index] = outcome
        monitor.signal()
      }
    }
  }

  private func claim() -> Int? {
    monitor.withLock {
      while !isStopped, next < files.count, next - taken >= Self.ahead { monitor.wait() }
      guard !isStopped, next < files.count else { return nil }
      next += 1
      return next - 1
    }
  }

  private func count(_ read: Int) -> Bool {
    monitor.withLock {
      bytes += Int64(read)
      return !isStopped
    }
  }

  /// Files and bytes that were read.
  var done: (files: Int, bytes: Int64) { monitor.withLock { (taken + outcomes.count, bytes) } }

  var isFinished: Bool { monitor.withLock { taken == files.count } }

  /// Waits for so many outcomes that follow those taken before, but no longer than so many milliseconds.
  ///
  /// - Returns: whether they are there, or all that remain
  func wait(for wanted: Int, milliseconds: Int) -> Bool {
    let end = ScanTime.now + Int64(milliseconds)
    return monitor.withLock {
      while !isReady(wanted) {
        let left = end - ScanTime.now
        if left <= 0 { return false }
        monitor.wait(milliseconds: Int(left))
      }
      return true
    }
  }

  private func isReady(_ wanted: Int) -> Bool {
    outcomes.count >= min(wanted, files.count - taken)
      && (taken..<min(taken + wanted, files.count)).allSatisfy { outcomes[$0] != nil }
  }

  /// Takes outcomes in the order of the list, as far as they are there.
  func take(atMost limit: Int) -> (first: Int, outcomes: [Outcome]) {
    monitor.withLock {
      let first = taken
      var ready: [Outcome] = []
      while ready.count < limit, let outcome = outcomes.removeValue(forKey: taken) {
        ready.append(outcome)
        taken += 1
      }
      monitor.signal()
      return (first, ready)
    }
  }

  /// Gives up what is not read yet, and waits for the threads. To be called once, whatever happened.
  func stop() {
    let running = monitor.withLock {
      isStopped = true
      monitor.signal()
      defer { threads = [] }
      return threads
    }
    for thread in running { thread.join() }
  }
}
