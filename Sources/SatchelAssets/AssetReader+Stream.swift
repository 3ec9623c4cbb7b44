// The C library is built without Swift concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  import SatchelCore

  extension AssetReader {
    /// Returns the bytes as a stream of parts, each read when it is asked for; memory stays bounded.
    ///
    /// - Parameters:
    ///   - offset: of the first byte
    ///   - size: the maximum size of a part, 1 or more
    /// - Throws: `SatchelError` `.invalid` for a wrong number; the iteration throws as `read` does
    public func chunks(
      from offset: Int64 = 0, of size: Int = 1 << 18
    ) throws -> AsyncThrowingStream<[UInt8], any Error> {
      guard size > 0 else { throw SatchelError(.invalid, "size: \(size) must be positive") }
      guard offset >= 0 else { throw SatchelError(.invalid, "offset: \(offset) must not be negative") }
      let position = Locked(offset)
      return AsyncThrowingStream {
        let bytes = try position.withLock { position in
          let bytes = try self.read(size, at: position)
          position += Int64(bytes.count)
          return bytes
        }
        return bytes.isEmpty ? nil : bytes
      }
    }
  }

  extension AssetStore {
    /// Puts bytes into the store that a sequence delivers, such as a download; memory stays bounded. See
    /// `put(_:type:isSensitive:)`.
    ///
    /// - Parameter maxSize: more bytes are refused
    /// - Throws: as `put(_:type:isSensitive:)`, and what the sequence throws: nothing is put then; `.full` for more bytes than
    ///   `maxSize`
    @discardableResult
    public func put<Chunks: AsyncSequence>(
      from chunks: Chunks, type: String? = nil, maxSize: Int64 = Int64.max, isSensitive: Bool = false,
      isolation: isolated (any Actor)? = #isolation
    ) async throws -> Asset where Chunks.Element == [UInt8] {
      let writer = try makeWriter(type: type, maxSize: maxSize, isSensitive: isSensitive)
      for try await chunk in chunks { try writer.append(chunk) }
      return try put(writer, type: type)
    }
  }
#endif
