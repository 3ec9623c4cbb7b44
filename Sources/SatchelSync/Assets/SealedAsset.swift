import SatchelAssets
import SatchelCore
import SatchelRemote

/// The bytes of an asset that is here.
package protocol AssetBytes: Sendable {
  /// The size in bytes.
  var size: Int64 { get }

  /// Returns `count` bytes at an offset; the asset has them.
  ///
  /// - Throws: `SatchelError`
  func read(_ count: Int, at offset: Int64) throws -> [UInt8]
}

/// The sealed form of an asset that is here, as the source of an object: sealed while it is read, from any offset, in
/// bounded memory. Each reading from begin to end verifies the SHA-256 before the last bytes.
// Unchecked: the state is guarded by the lock.
final class SealedAsset: BodySource, @unchecked Sendable {
  let seal: AssetSeal
  private let bytes: any AssetBytes

  private struct State {
    /// The chunk that was sealed last.
    var chunk: Int64 = -1
    var sealed: [UInt8] = []
    /// The hash of the chunks before `next`, if all were read in order.
    var hash = SHA256()
    var next: Int64 = 0
  }

  private let state = Locked(State())

  init(_ bytes: any AssetBytes, _ seal: AssetSeal) throws {
    guard bytes.size == seal.layout.size else { throw Self.changed(seal.digest) }
    (self.bytes, self.seal) = (bytes, seal)
  }

  private static func changed(_ digest: AssetDigest) -> SatchelError {
    SatchelError(.damaged, "asset \(digest): its bytes here are not those of its SHA-256")
  }

  var size: Int64 { seal.layout.length }

  var changed: ObjectStoreError {
    ObjectStoreError(.failed(.damaged), Self.changed(seal.digest).message, faultClass: .object)
  }

  func checkUnchanged() throws(ObjectStoreError) {}

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ObjectStoreError) {
    do {
      try state.withLock { try read(into: buffer, at: offset, &$0) }
    } catch {
      let error = SatchelError(converting: error)
      throw ObjectStoreError(.failed(error.code), error.message, faultClass: .object)
    }
  }

  private func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ state: inout State
  ) throws {
    var done = 0
    while done < buffer.count {
      let position = offset + Int64(done)
      let chunk = position / (AssetLayout.chunkSize + AssetLayout.overhead)
      if state.chunk != chunk { try seal(chunk, &state) }
      let start = Int(position - seal.layout.sealed(chunk..<chunk + 1).lowerBound)
      let part = state.sealed[start...].prefix(buffer.count - done)
      guard !part.isEmpty else { throw Self.changed(seal.digest) }
      UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyBytes(from: part)
      done += part.count
    }
  }

  private func seal(_ chunk: Int64, _ state: inout State) throws {
    let range = seal.layout.content(of: chunk..<chunk + 1)
    let content = try bytes.read(range.count, at: range.lowerBound)
    guard content.count == range.count else { throw Self.changed(seal.digest) }
    if chunk == 0 { (state.hash, state.next) = (SHA256(), 0) }
    if chunk == state.next {
      content.withUnsafeBytes { state.hash.update($0) }
      state.next += 1
      if state.next == seal.layout.chunks {
        var hash = state.hash
        guard hash.digest() == seal.digest.bytes else { throw Self.changed(seal.digest) }
      }
    }
    (state.chunk, state.sealed) = (chunk, seal.seal(content, chunk: chunk))
  }

  /// The whole sealed form of a small asset.
  func sealed() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(size))
    try bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) as Void }
    return bytes
  }
}
