"""The path: twelve stages in order, a workspace that holds a person's files, and what has been done there.

Nothing here knows what a right kernel is: a file goes to the judge, and the verdict comes back.
"""
