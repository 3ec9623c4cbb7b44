import Foundation
import Synchronization

import SatchelCore
import SatchelStorage

/// A directory with an outbox file, and a disk that fails on request.
final class OutboxFixture {
  let storage: StorageFixture
  var outboxFile: OutboxFile { OutboxFile(store: storage.path, timeout: 200) }
  var path: String { storage.path + ".outbox" }

  init() throws { storage = try StorageFixture() }

  static func payload(_ number: Int) -> [UInt8] {
    // Payloads of all lengths, with bytes of the file format in them.
    Array(
      "{\"entry\":\(number),\"text\":\"\u{1}entry\r\n\(String(repeating: "é", count: number * 7 % 40))\"}"
        .utf8)
  }

  /// Returns the content of a file with `entries` entries, and the offset of each.
  func make(entries: Int) throws -> (bytes: [UInt8], starts: [Int]) {
    var starts: [Int] = []
    for number in 0..<entries { starts.append(Int(try outboxFile.append(Self.payload(number)))) }
    return (try entries == 0 ? [] : storage.bytes(path), starts)
  }

  func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }
}

/// A disk that fails in one way.
final class BadDisk: Sendable {
  enum Fault: CaseIterable, Sendable {
    case full, fullAfterSome, writeError, syncError, shortWrites, interrupted, fullForGood
  }

  let fault: Fault
  private let counts = Mutex((writes: 0, syncs: 0, isFixed: false))

  init(_ fault: Fault) { self.fault = fault }

  func fix() { counts.withLock { $0.isFixed = true } }

  var calls: FileCalls {
    var calls = FileCalls.system
    calls.write = { [self] file, bytes, offset in
      let (count, isFixed) = counts.withLock { counts in
        counts.writes += 1
        return (counts.writes, counts.isFixed)
      }
      guard !isFixed else { return FileCalls.system.write(file, bytes, offset) }
      switch fault {
      case .full:
        errno = ENOSPC
        return -1
      case .writeError:
        errno = EIO
        return -1
      case .interrupted where count % 2 == 1:
        errno = EINTR
        return -1
      case .fullAfterSome where count > 1, .fullForGood where count > 1:
        errno = ENOSPC
        return -1
      case .fullAfterSome, .fullForGood, .shortWrites:
        return FileCalls.system.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(41)), offset)
      default: return FileCalls.system.write(file, bytes, offset)
      }
    }
    calls.sync = { [self] file in
      guard fault == .syncError, !counts.withLock({ $0.isFixed }) else { return FileCalls.system.sync(file) }
      errno = EIO
      return -1
    }
    calls.truncate = { [self] file, size in
      guard fault == .fullForGood, !counts.withLock({ $0.isFixed }) else {
        return FileCalls.system.truncate(file, size)
      }
      errno = EIO
      return -1
    }
    return calls
  }
}
