import Foundation
import SatchelCore
import SatchelJSON

// `localizedDescription`, which apps show, is the message.

extension SatchelError: LocalizedError {
  public var errorDescription: String? { message }
}

extension JSONError: LocalizedError {
  public var errorDescription: String? { description }
}
